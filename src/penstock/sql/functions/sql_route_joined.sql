-- sql_route_joined: an expression for the values of some columns of a changed row, as one text; null when none is there.
create or replace function penstock.sql_route_joined(p_table regclass, p_columns text[], p_there text[]) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case count(*) when 0 then 'null::text' when 1 then format('left((%s)::text, 2000)', min(v))
              else format('left(concat_ws('','', %s), 2000)', string_agg(v, ', ' order by o)) end
    from unnest(p_columns) with ordinality u(c, o) cross join lateral (select penstock.sql_route_value(p_table, c, 'n')) x(v)
   where c = any (p_there)
$$;
