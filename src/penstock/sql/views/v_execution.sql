-- v_execution: every execution: a one-step one is its job.
create or replace view penstock.v_execution as
select j.execution_id, j.playbook_ref, j.subscription, j.status, j.pool, j.source_ref, j.trace, j.actor, j.attempt, j.max_attempts,
       j.enqueued_at as started_at, j.finished_at
  from penstock.v_job j where j.playbook_ref is not null;
