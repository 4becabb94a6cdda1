-- fn_job_enqueue_many: ask for many jobs at once; all or none.
--   p_jobs   array of objects with the parameters of fn_job_enqueue, without p_; at most 10,000
--   returns  per job its ordinal (from 1), job_id, and whether it was made now or known by its key
--   writes   once_key, job, job_queue, lane_check
create or replace function penstock.fn_job_enqueue_many(p_jobs jsonb)
returns table (ordinal integer, job_id bigint, created boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_rows penstock.job_request[];
  v_actor text := 'role:' || penstock.caller();
begin
  perform penstock.job_array_check(p_jobs);
  v_rows := array(
    select row(j.ordinality, nextval('penstock.job_id_seq'), j.kind, j.idempotency_key,
               coalesce(j.executor, 'PG_worker'), j.source_ref, j.target_ref, j.payload_ref, j.safe_payload,
               coalesce(j.priority, 0), j.process_after, j.correlation_id, j.causation_event_id,
               coalesce(j.actor, v_actor), coalesce(j.pool, 'shared'), j.lane, j.event_domain, j.trace,
               j.max_attempts, null, null, null, null)::penstock.job_request
      from rows from (jsonb_to_recordset(p_jobs) as (
        kind text, idempotency_key text, executor text, source_ref text, target_ref text, payload_ref text,
        safe_payload jsonb, priority integer, process_after timestamptz, correlation_id text,
        causation_event_id uuid, actor text, pool text, lane text, event_domain text, trace text,
        max_attempts integer)) with ordinality j);
  return query select * from penstock.job_insert(v_rows);
exception
  when invalid_text_representation or invalid_datetime_format or datetime_field_overflow
    or numeric_value_out_of_range or invalid_parameter_value then
    raise exception using errcode = 'PS011', message = 'a job of the request has a field that cannot be read: ' || sqlerrm;
end
$$;
