-- config_text: one setting of dot_config.
--   p_key, p_default  the key, and what holds when it is not set
create or replace function penstock.config_text(p_key text, p_default text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((select c.value from penstock.dot_config c where c.key = p_key), p_default);
end
$$;
