-- v_subscription_broadcast_used: of each event type, how many events of the last 24 hours nobody had subscribed to.
create or replace view penstock.v_subscription_broadcast_used as
select b.event_domain, b.event_type, sum(b.broadcast)::bigint as broadcast_events_24h, sum(b.events)::bigint as events_24h
  from penstock.event_broadcast b where b.hour > now() - interval '25 hours'
 group by b.event_domain, b.event_type having sum(b.broadcast) > 0;
