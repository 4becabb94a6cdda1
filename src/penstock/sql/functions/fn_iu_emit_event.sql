-- fn_iu_emit_event: record a fact. Part of the caller's transaction.
--   p_event_domain, p_event_type, p_event_stream  a registered type; a null stream is the registered one
--   p_subject_table, p_subject_ref                what it is about
--   p_payload                                     small safe scalars; forbidden keys are refused
--   p_actor                                       on whose behalf; null is the caller itself
--   p_correlation_id, p_causation_event_id, p_trace  where it belongs
--   p_idempotency_key                             same type and key: same event, no new row
--   returns                                       event_id
--   writes                                        once_key, event_outbox
create or replace function penstock.fn_iu_emit_event(
  p_event_domain text, p_event_type text, p_event_stream text, p_subject_table text, p_subject_ref text, p_payload jsonb,
  p_actor text, p_correlation_id text default null, p_causation_event_id uuid default null,
  p_idempotency_key text default null, p_trace text default null) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_event uuid := gen_random_uuid();
  v_stream text := penstock.event_type_checked(p_event_domain, p_event_type, p_event_stream);
begin
  if greatest(length(p_subject_table), length(p_subject_ref), length(p_correlation_id), length(p_trace)) > 2000
     or length(p_idempotency_key) not between 1 and 500 then
    raise exception using errcode = 'PS011', message = format('event %s.%s: %s', p_event_domain, p_event_type,
      'subject, correlation_id and trace have at most 2000 characters, an idempotency_key 1 to 500');
  end if;
  if p_idempotency_key is not null then
    v_event := penstock.once_take('event:' || p_event_domain || '.' || p_event_type, p_idempotency_key, v_event::text, 'event')::uuid;
    if exists (select from penstock.event_outbox e where e.event_id = v_event) then
      return v_event;
    end if;
  end if;
  perform penstock.event_insert(v_event, p_event_domain, p_event_type, v_stream, p_subject_table, p_subject_ref, p_payload,
                                v_actor, p_correlation_id, p_causation_event_id, p_trace);
  return v_event;
end
$$;
