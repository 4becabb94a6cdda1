-- sql_route_value: an expression for a column of a changed row, that runs nothing but PostgreSQL's own code.
--   A cast, or an operator, of somebody's own type is somebody's function, and would run with our rights: such a value is taken as
--   its output function writes it.
--   p_row  what the row is called
create or replace function penstock.sql_route_value(p_table regclass, p_column text, p_row text) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  with recursive type as (
    select t.* from pg_attribute a join pg_type t on t.oid = a.atttypid
     where a.attrelid = p_table and a.attname = p_column and not a.attisdropped
    union all
    select b.* from type t join pg_type b on b.oid = t.typbasetype)
  select case when t.typnamespace = 'pg_catalog'::regnamespace then format('%s.%I', p_row, p_column)
              else format('case when %1$s.%2$I is null then null else format(''%%s'', %1$s.%2$I) end', p_row, p_column) end
    from type t where t.typtype <> 'd'
$$;
