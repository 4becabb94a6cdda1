-- event_told: an event as others are told of it.
create or replace function penstock.event_told(p_event penstock.event_outbox) returns jsonb
language sql stable
return jsonb_build_object('event_id', (p_event).event_id, 'event_domain', (p_event).event_domain, 'event_type', (p_event).event_type,
  'event_stream', (p_event).event_stream, 'created_at', (p_event).created_at, 'subject_table', (p_event).subject_table,
  'subject_ref', (p_event).subject_ref, 'payload', (p_event).payload, 'actor', (p_event).actor, 'correlation_id', (p_event).correlation_id,
  'causation_event_id', (p_event).causation_event_id, 'trace', (p_event).trace);
