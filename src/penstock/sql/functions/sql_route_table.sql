-- sql_route_table: the table of a route as it is now; null when it is gone.
create or replace function penstock.sql_route_table(p_route penstock.iu_sql_event_route) returns regclass
language sql stable set search_path = pg_catalog, pg_temp as $$
  select c.oid::regclass from pg_class c join pg_namespace s on s.oid = c.relnamespace
   where (p_route).source_object_kind = 'table' and s.nspname = (p_route).source_schema and c.relname = (p_route).source_table
$$;
