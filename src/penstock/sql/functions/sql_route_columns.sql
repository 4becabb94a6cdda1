-- sql_route_columns: the columns of its table that a route names.
create or replace function penstock.sql_route_columns(p_route penstock.iu_sql_event_route) returns text[]
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select array(select distinct n from unnest(
    penstock.names_of((p_route).payload_contract -> 'keep_refs') || penstock.names_of((p_route).payload_contract -> 'subject')
    || penstock.names_of((p_route).idempotency_policy -> 'key') || penstock.names_of((p_route).source_filter -> 'changed')) n order by n)
$$;
