-- fn_job_enqueue: ask for one job. Part of the caller's transaction: no commit, no job.
--   p_kind              what is to be done; kinds need no registration
--   p_idempotency_key   same kind and key: same job_id and no new row, for queue.once_key.ttl_s.job
--   p_executor          the executor kind that may claim it
--   p_source_ref, p_target_ref, p_payload_ref  addresses of where it comes from, what it is about, where the data lies
--   p_safe_payload      small safe scalars; forbidden keys are refused
--   p_priority          higher first
--   p_process_after     not before this time
--   p_correlation_id, p_causation_event_id, p_trace    carried to the handler and to what it causes
--   p_actor             on whose behalf; null is the caller itself
--   p_pool, p_event_domain  where it is served
--   p_lane              jobs of one lane run one at a time, in enqueue order
--   p_max_attempts      null: queue.retry.max_attempts.<kind|default>
--   returns             job_id
--   writes              once_key, job, job_queue, lane_check
create or replace function penstock.fn_job_enqueue(
  p_kind text, p_idempotency_key text default null, p_executor text default 'PG_worker',
  p_source_ref text default null, p_target_ref text default null, p_payload_ref text default null,
  p_safe_payload jsonb default null, p_priority integer default 0, p_process_after timestamptz default null,
  p_correlation_id text default null, p_causation_event_id uuid default null, p_actor text default null,
  p_pool text default 'shared', p_lane text default null, p_event_domain text default null,
  p_trace text default null, p_max_attempts integer default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_row penstock.job_request;
begin
  perform penstock.payload_check(p_safe_payload, 'safe_payload');
  v_row := row(1, nextval('penstock.job_id_seq'), p_kind, p_idempotency_key, coalesce(p_executor, 'PG_worker'),
    p_source_ref, p_target_ref, p_payload_ref, p_safe_payload, coalesce(p_priority, 0), p_process_after, p_correlation_id,
    p_causation_event_id, coalesce(p_actor, 'role:' || penstock.caller()), coalesce(p_pool, 'shared'), p_lane,
    p_event_domain, p_trace, p_max_attempts, null, null, null, null);
  return (select i.job_id from penstock.job_insert(array[v_row]) i);
end
$$;
