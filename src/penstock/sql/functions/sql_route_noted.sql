-- sql_route_noted: keep what a route would have done, or could not.
--   writes  sql_event_route_note
create or replace function penstock.sql_route_noted(p_route_code text, p_outcome text, p_events bigint, p_sample jsonb, p_detail text)
returns void
language sql volatile set search_path = pg_catalog, pg_temp as $$
  insert into penstock.sql_event_route_note (route_code, outcome, events, sample, detail)
  values (p_route_code, p_outcome, p_events, p_sample, left(p_detail, 2000))
$$;
