-- v_execution: every execution. One of a single step is its job; any other is running, paused, cancelling, or how it ended, and
-- awaiting while all its live jobs wait for an answer or a time. One whose steps are forgotten is shown as it ended, in the pool of
-- its first job, as long as that is there. No pool means that each step has its own.
create or replace view penstock.v_execution as
select j.job_id as execution_id, j.playbook_ref, j.subscription, j.status, j.pool, j.source_ref, j.trace, j.actor, j.attempt,
       j.max_attempts,
       j.enqueued_at as started_at, j.finished_at
  from penstock.v_job j where j.playbook_ref is not null and j.step is null
union all
select w.execution_id, w.playbook_ref, w.subscription,
       case when w.status = 'running'
             and exists (select from penstock.job_queue q where q.execution_id = w.execution_id and q.status = 'awaiting')
             and not exists (select from penstock.job_queue q where q.execution_id = w.execution_id and q.status <> 'awaiting')
            then 'awaiting' else w.status collate "default" end,
       w.pool, w.source_ref, w.trace, w.actor::text, null, null, w.started_at, w.finished_at
  from penstock.job_workflow w
union all
select j.job_id, j.playbook_ref, j.subscription, e.detail ->> 'status', j.pool, j.source_ref, j.trace, j.actor::text, null, null,
       j.enqueued_at, (e.detail ->> 'finished_at')::timestamptz
  from penstock.execution_event e
  join penstock.job j on j.job_id = e.job_id and j.enqueued_at = (e.detail ->> 'started_at')::timestamptz
 where e.happening = 'execution_swept';
