-- table_key: the columns of a table's primary key, in its order; empty for none.
create or replace function penstock.table_key(p_table regclass) returns text[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select array(select a.attname::text from pg_index i cross join unnest(i.indkey::smallint[]) with ordinality k(attnum, place)
                 join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
                where i.indrelid = p_table and i.indisprimary order by k.place)
$$;
