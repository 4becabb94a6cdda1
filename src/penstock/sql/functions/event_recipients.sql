-- event_recipients: who is to read an event, and by which rule.
--   Nobody's rows give it to them: a broadcast, to everybody who has a row at all, except where theirs mutes it. So it is for all
--   events while queue.subscription_resolution.enabled is not true.
create or replace function penstock.event_recipients(p_event penstock.event_outbox)
returns table (recipient_ref penstock.actor_ref, rule text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with decided as materialized (select * from penstock.event_rules(p_event)),
  given as materialized (
    select d.recipient_ref, d.rule from decided d
     where not d.mute and penstock.config_text('queue.subscription_resolution.enabled', 'true') = 'true')
  select g.recipient_ref, g.rule from given g
  union all
  select distinct s.recipient_ref, 'broadcast' from penstock.event_subscription s
   where not exists (select from given)
     and not exists (select from decided d where d.recipient_ref = s.recipient_ref and d.mute)
$$;
