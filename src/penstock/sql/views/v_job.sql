-- v_job: a job whole, live or finished. Live rows come from job_queue, finished ones from their last outcome.
create or replace view penstock.v_job as
select j.job_id, coalesce(j.execution_id, j.job_id) as execution_id, j.step, j.playbook_ref, j.subscription, j.job_kind,
       j.executor::text as executor, j.pool, j.lane, j.event_domain, j.priority, q.status::text as status, q.process_after, q.attempt,
       coalesce(j.max_attempts, 
         (select c.value::smallint from penstock.dot_config c where c.key = 'queue.retry.max_attempts.' || j.job_kind),
         (select c.value::smallint from penstock.dot_config c where c.key = 'queue.retry.max_attempts.default'))::smallint as max_attempts,
       q.lease_until, q.leased_by, j.source_ref, j.target_ref, j.payload_ref, j.safe_payload, j.correlation_id,
       j.causation_event_id, j.causation_depth, j.trace, j.actor::text as actor, j.enqueued_at, null::timestamptz as finished_at
  from penstock.job_queue q
  join penstock.job j on j.job_id = q.job_id and j.enqueued_at = q.enqueued_at
union all
select j.job_id, coalesce(j.execution_id, j.job_id), j.step, j.playbook_ref, j.subscription, j.job_kind,
       j.executor::text, j.pool, j.lane, j.event_domain, j.priority, o.status::text, j.process_after, o.attempt,
       coalesce(j.max_attempts, 
         (select c.value::smallint from penstock.dot_config c where c.key = 'queue.retry.max_attempts.' || j.job_kind),
         (select c.value::smallint from penstock.dot_config c where c.key = 'queue.retry.max_attempts.default'))::smallint,
       null, o.leased_by, j.source_ref, j.target_ref, j.payload_ref, j.safe_payload, j.correlation_id,
       j.causation_event_id, j.causation_depth, j.trace, j.actor::text, j.enqueued_at, o.finished_at
  from penstock.job_outcome o
  join penstock.job j on j.job_id = o.job_id and j.enqueued_at = o.enqueued_at
 where o.status in ('succeeded', 'dead_lettered', 'cancelled');
