-- v_iu_route_dead_letter_open: what could not be delivered, and nobody has dealt with.
create or replace view penstock.v_iu_route_dead_letter_open as
select d.* from penstock.iu_route_dead_letter d where d.resolved_at is null;
