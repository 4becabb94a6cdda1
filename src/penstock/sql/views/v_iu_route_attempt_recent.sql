-- v_iu_route_attempt_recent: the attempts of the last 24 hours.
create or replace view penstock.v_iu_route_attempt_recent as
select a.* from penstock.iu_route_attempt a where a.attempted_at > now() - interval '24 hours';
