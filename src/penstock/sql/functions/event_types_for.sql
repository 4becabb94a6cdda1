-- event_types_for: the event types of which an event may be for this recipient, as domain.type: what its rows name, and what may be a
-- broadcast. The others need no look at their events.
create or replace function penstock.event_types_for(p_recipient_ref penstock.actor_ref) returns text[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select array(
    select r.event_domain || '.' || r.event_type from penstock.event_type_registry r
     where exists (select from penstock.event_subscription s
                    where s.recipient_ref = p_recipient_ref and not s.mute and s.event_domain = r.event_domain
                      and coalesce(s.event_type, r.event_type) = r.event_type)
        or penstock.config_text('queue.subscription_resolution.enabled', 'true') <> 'true'
        -- somebody gets every one of them: none is a broadcast
        or not exists (select from penstock.event_subscription s
                        where not s.mute and s.event_domain = r.event_domain and coalesce(s.event_type, r.event_type) = r.event_type
                          and s.event_stream is null and s.scope_subject_table is null and s.scope_filter = '{}'
                          and not exists (select from penstock.event_subscription m
                                           where m.recipient_ref = s.recipient_ref and m.event_domain = r.event_domain and m.mute)))
$$;
