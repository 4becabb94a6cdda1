-- event_insert: write one checked event; the one way into event_outbox.
--   refuses  payload keys that are forbidden, or that its type does not have (PS006), a large payload (PS007), a loop of causes (PS011)
--   writes   event_outbox
create or replace function penstock.event_insert(
  p_event_id uuid, p_event_domain text, p_event_type text, p_event_stream text, p_subject_table text, p_subject_ref text,
  p_payload jsonb, p_actor penstock.actor_ref, p_correlation_id text, p_causation_event_id uuid, p_trace text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_depth integer := penstock.causation_depth(p_causation_event_id);
begin
  if jsonb_typeof(p_payload) not in ('object', 'null') then
    raise exception using errcode = 'PS011', message = format('the payload of event %s.%s is a JSON %s: it has to be an object',
      p_event_domain, p_event_type, jsonb_typeof(p_payload));
  end if;
  perform penstock.payload_check(p_payload, 'the event payload');
  perform penstock.event_contract_check(p_event_domain, p_event_type, p_payload, 'the event payload');
  if pg_column_size(p_payload) > penstock.config_text('queue.safe_payload.max_bytes', '8192')::bigint then
    raise exception using errcode = 'PS007', message = format('the payload of event %s.%s is larger than %s bytes', p_event_domain,
      p_event_type, penstock.config_text('queue.safe_payload.max_bytes', '8192')),
      hint = 'Events carry a signal: keep the data elsewhere and pass its address as a ref.';
  end if;
  perform penstock.partition_ensure('event_outbox', now());
  insert into penstock.event_outbox (
    event_id, event_domain, event_type, event_stream, subject_table, subject_ref, payload, actor, correlation_id,
    causation_event_id, causation_depth, trace)
  values (p_event_id, p_event_domain, p_event_type, p_event_stream, p_subject_table, p_subject_ref, p_payload, p_actor,
          p_correlation_id, p_causation_event_id, v_depth, p_trace);
  perform penstock.wake(array['_outbox']);
end
$$;
