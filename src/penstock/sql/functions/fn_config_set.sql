-- fn_config_set: change a setting of dot_config.
--   p_key    a known setting; those ending in .<kind|default> take any job kind
--   p_value  text; null takes a per-kind setting away
--   returns  the value before, null if there was none
--   writes   dot_config
create or replace function penstock.fn_config_set(p_key text, p_value text, p_actor text default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_expects text := penstock.config_expects(p_key);
  v_before text := penstock.config_text(p_key, null);
begin
  if v_expects is null then
    raise exception using errcode = 'PS015', message = format('%L is not a setting', p_key), hint = 'penstock config list shows them.';
  end if;
  if p_value is null then
    if p_key !~ '^queue\.(retry\.max_attempts|lease_ms|timeout_ms)\.' or p_key ~ '\.default$' then
      raise exception using errcode = 'PS015', message = format('%s cannot be unset', p_key);
    end if;
    delete from penstock.dot_config c where c.key = p_key;
  elsif p_value !~ v_expects then
    raise exception using errcode = 'PS015', message = format('%s cannot be %L', p_key, p_value),
      hint = format('Its value must match %s', v_expects);
  else
    insert into penstock.dot_config (key, value, updated_by) values (p_key, p_value, v_actor)
    on conflict (key) do update set value = excluded.value, updated_at = now(), updated_by = excluded.updated_by;
  end if;
  return v_before;
end
$$;
