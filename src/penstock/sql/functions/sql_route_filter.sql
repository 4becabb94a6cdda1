-- sql_route_filter: what follows the changed rows where only those count in which a column of source_filter differs.
--   A row whose primary key changed has no earlier one, and counts.
create or replace function penstock.sql_route_filter(p_route penstock.iu_sql_event_route, p_key text[], p_there text[]) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case when f.changed is null or cardinality(p_key) = 0 then ''
              else format(' left join was o on (%s) where (%s) is distinct from (%s)', k.same, f.before, f.changed) end
    from (select string_agg(format('n.%I', c), ', ' order by c) as changed, string_agg(format('o.%I', c), ', ' order by c) as before
            from unnest(penstock.names_of((p_route).source_filter -> 'changed')) c where c = any (p_there)) f,
         (select string_agg(format('o.%1$I = n.%1$I', c), ' and ') as same from unnest(p_key) c) k
$$;
