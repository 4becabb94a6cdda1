-- payload_check: refuse a payload that holds a forbidden key, at any depth and in any case (guarantee 6).
--   p_payload  any jsonb; one pass over its text. jsonb prints a key as "key": and a quote inside a string as \",
--              so the pattern finds keys and nothing else
--   p_what     names it in the message
create or replace function penstock.payload_check(p_payload jsonb, p_what text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_key text;
begin
  if p_payload is null then
    return;
  end if;
  v_key := substring(p_payload::text from penstock.forbidden_key_pattern());
  if v_key is not null then
    raise exception using errcode = 'PS006', message = format('%s holds the key %L, which no job or event carries', p_what, v_key),
      hint = 'Jobs and events carry a signal: keep the data elsewhere and pass its address as a ref. '
             'The list is queue.forbidden_keys in dot_config.';
  end if;
end
$$;
