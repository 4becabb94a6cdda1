-- v_sql_event_route_active: the SQL routes that are live, and what has become of each.
create or replace view penstock.v_sql_event_route_active as
select r.*, penstock.sql_route_state(r) as state from penstock.iu_sql_event_route r where r.enabled and not r.dry_run;
