-- schedule_request: the job a schedule asks for, as a request for job_insert.
--   p_job    an object with the fields of fn_job_enqueue_many; no idempotency_key, because each run has its own
--   p_actor  on whose behalf, when the job does not say
--   p_key    the run's idempotency key; null to look at the job only
--   returns  the request with its defaults filled in; refuses with PS011, PS006
create or replace function penstock.schedule_request(p_job jsonb, p_actor text, p_key text) returns penstock.job_request
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform penstock.job_array_check(jsonb_build_array(p_job));
  if p_job ? 'idempotency_key' then
    raise exception using errcode = 'PS011', message = 'the job of a schedule has no idempotency_key',
      hint = 'Each run gets its own: schedule:<schedule_id>:<planned run>.';
  end if;
  return (
    select row(1, case when p_key is not null then nextval('penstock.job_id_seq') end, j.kind, p_key,
               coalesce(j.executor, 'PG_worker'), j.source_ref, j.target_ref, j.payload_ref, j.safe_payload,
               coalesce(j.priority, 0), j.process_after, j.correlation_id, j.causation_event_id,
               coalesce(j.actor, p_actor), coalesce(j.pool, 'shared'), j.lane, j.event_domain, j.trace,
               j.max_attempts, null, null, null, null)::penstock.job_request
      from jsonb_to_record(p_job) as j (
        kind text, executor text, source_ref text, target_ref text, payload_ref text, safe_payload jsonb,
        priority integer, process_after timestamptz, correlation_id text, causation_event_id uuid, actor text, pool text,
        lane text, event_domain text, trace text, max_attempts integer));
exception
  when invalid_text_representation or invalid_datetime_format or datetime_field_overflow
    or numeric_value_out_of_range or invalid_parameter_value then
    raise exception using errcode = 'PS011', message = 'the job of the schedule has a field that cannot be read: ' || sqlerrm;
end
$$;
