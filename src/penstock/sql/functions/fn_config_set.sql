-- fn_config_set: change a setting of dot_config.
--   p_key    a known setting; those ending in .<kind|default> take any job kind
--   p_value  text; null takes a per-kind setting away
--   returns  the value before, null if there was none
--   writes   dot_config
--   refuses  a forbidden key that an enabled SQL route keeps (PS006)
create or replace function penstock.fn_config_set(p_key text, p_value text, p_actor text default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_accepts record;
  v_before text := penstock.config_text(p_key, null);
begin
  select * into v_accepts from penstock.config_accepts(p_key);
  if v_accepts.pattern is null then
    raise exception using errcode = 'PS015', message = format('%L is not a setting', p_key), hint = 'penstock config list shows them.';
  end if;
  if p_value is null then
    if p_key !~ '^queue\.(retry\.max_attempts|lease_ms|timeout_ms)\.' or p_key ~ '\.default$' then
      raise exception using errcode = 'PS015', message = format('%s cannot be unset', p_key),
        hint = format('Give it another value: %s.', v_accepts.words);
    end if;
    delete from penstock.dot_config c where c.key = p_key;
  elsif p_value !~ v_accepts.pattern then
    raise exception using errcode = 'PS015', message = format('%s cannot be %L', p_key, p_value),
      hint = format('It takes %s.', v_accepts.words);
  else
    insert into penstock.dot_config (key, value, updated_by) values (p_key, p_value, v_actor)
    on conflict (key) do update set value = excluded.value, updated_at = now(), updated_by = excluded.updated_by;
  end if;
  if p_key = 'queue.forbidden_keys' then
    -- a live route keeps columns by name, and is not looked at row by row
    perform penstock.sql_route_names_check(r) from penstock.iu_sql_event_route r where r.enabled order by r.route_code;
  end if;
  return v_before;
end
$$;
