-- config_for_kind: a setting that may differ by job kind: <prefix>.<kind>, else <prefix>.default, else p_default.
create or replace function penstock.config_for_kind(p_prefix text, p_kind text, p_default bigint) returns bigint
language sql stable set search_path = pg_catalog, pg_temp as $$
  select coalesce(
    (select c.value::bigint from penstock.dot_config c where c.key = p_prefix || '.' || p_kind),
    (select c.value::bigint from penstock.dot_config c where c.key = p_prefix || '.default'),
    p_default)
$$;
