-- v_subscription_event: the history of each subscription: its life, its duplicates, its losses. By path it uses an index.
create or replace view penstock.v_subscription_event as
select e.subscription, e.execution_event_id, e.happened_at, e.happening, e.execution_id, e.actor::text as actor, e.detail
  from penstock.execution_event e where e.subscription is not null;
