-- sql_route_filter: what follows the changed rows where only those count in which a column of source_filter differs.
--   A row whose primary key changed has no earlier one, and counts. Without a primary key all count. What cannot be compared is
--   compared as text.
create or replace function penstock.sql_route_filter(p_route penstock.iu_sql_event_route, p_table regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when f.changed is null or k.same is null then ''
              else format(' left join was o on (%s) where (%s) is distinct from (%s)', k.same, f.before, f.changed) end
    from (select string_agg(format('(%s)%s', penstock.sql_route_value(p_table, a.attname, 'n'), x.cast), ', ' order by a.attnum) as changed,
                 string_agg(format('(%s)%s', penstock.sql_route_value(p_table, a.attname, 'o'), x.cast), ', ' order by a.attnum) as before
            from pg_attribute a join pg_type t on t.oid = a.atttypid
           cross join lateral (select case when t.typname in ('json', 'xml') or t.typcategory = 'G' then '::text' else '' end) x("cast")
           where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
             and a.attname = any (penstock.names_of((p_route).source_filter -> 'changed'))) f,
         (select string_agg(format('%s = %s', penstock.sql_route_value(p_table, c, 'o'), penstock.sql_route_value(p_table, c, 'n')),
                            ' and ') as same from unnest(penstock.table_key(p_table)) c) k
$$;
