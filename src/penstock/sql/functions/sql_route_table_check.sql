-- sql_route_table_check: refuse a route whose table, or a column it names, is not there (PS011).
create or replace function penstock.sql_route_table_check(p_route penstock.iu_sql_event_route) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_name text := format('%s.%s', (p_route).source_schema, (p_route).source_table);
  v_table regclass := penstock.sql_route_table(p_route);
  v_kind "char" := (select c.relkind from pg_class c where c.oid = v_table);
  v_missing text;
  v_fault text;
begin
  select string_agg(n, ', ') into v_missing from unnest(penstock.sql_route_columns(p_route)) n
   where not exists (select from pg_attribute a where a.attrelid = v_table and a.attname = n and a.attnum > 0 and not a.attisdropped);
  v_fault := case
    when v_table is null then format('table %s does not exist', v_name)
    when v_kind not in ('r', 'p') then format('%s is no table', v_name)
    when (p_route).source_schema = 'penstock' then 'what Penstock writes becomes no event this way'
    when v_missing is not null then format('%s has no column %s', v_name, v_missing)
    when (p_route).source_filter is not null and cardinality(penstock.table_key(v_table)) = 0 then
      format('%s has no primary key: what has changed in a row cannot be told', v_name) end;
  if v_fault is not null then
    raise exception using errcode = 'PS011', message = format('SQL route %s: %s', (p_route).route_code, v_fault);
  end if;
end
$$;
