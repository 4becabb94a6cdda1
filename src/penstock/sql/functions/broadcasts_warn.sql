-- broadcasts_warn: more than 5 % of a type's events in 24 hours were broadcasts: an event, once a day.
--   writes  once_key, event_outbox
create or replace function penstock.broadcasts_warn() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_type record;
begin
  for v_type in
    select b.event_domain, b.event_type, b.broadcast_events_24h, b.events_24h from penstock.v_subscription_broadcast_used b
     where b.broadcast_events_24h > 0.05 * b.events_24h
       and not (b.event_domain = 'system' and b.event_type = 'subscription_broadcast')
       -- where nobody reads events, and where all are broadcasts on purpose, it says nothing
       and exists (select from penstock.event_subscription s where not s.mute)
       and penstock.config_text('queue.subscription_resolution.enabled', 'true') = 'true'
  loop
    perform penstock.system_event_once('subscription_broadcast', 'event_type', v_type.event_domain || '.' || v_type.event_type,
      jsonb_build_object('broadcast_events_24h', v_type.broadcast_events_24h, 'events_24h', v_type.events_24h),
      format('%s.%s:%s', v_type.event_domain, v_type.event_type, (now() at time zone 'UTC')::date));
  end loop;
end
$$;
