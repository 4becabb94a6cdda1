-- sql_route_dry: a query for how many events a route would make of the changed rows, and the first few of them.
create or replace function penstock.sql_route_dry(p_route_code text, p_table regclass) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format('select count(*), (select jsonb_agg(to_jsonb(s)) from (select * from (%1$s) f limit 10) s) from (%1$s) r',
                penstock.sql_route_rows(r, p_table))
    from penstock.iu_sql_event_route r where r.route_code = p_route_code
$$;
