-- v_execution_step: the steps of executions of several steps that have begun: each with the job it is run by. Ask by execution.
create or replace view penstock.v_execution_step as
select t.execution_id, s.step, s.ordinal, t.visit, t.item, t.job_id, j.job_kind, j.status, j.attempt, j.max_attempts, j.pool, j.executor,
       t.is_stuck, array(select v.step from penstock.playbook_step v where v.step_id = any (t.via) order by v.ordinal) as via,
       t.enqueued_at, j.process_after, j.finished_at,
       (select o.error from penstock.job_outcome o
         where o.job_id = coalesce(t.decider, t.job_id) order by o.finished_at desc limit 1) as error,
       (select coalesce(max(o.started_at), (select q.started_at from penstock.job_queue q where q.job_id = t.job_id))
          from penstock.job_outcome o where o.job_id = t.job_id) as started_at,
       exists (select from penstock.execution_event e where e.job_id = t.job_id and e.happening = 'step_skipped') as is_skipped
  from penstock.job_step t
  join penstock.playbook_step s on s.step_id = t.step_id
 -- offset 0: each job is looked up by its id, instead of all jobs being read for a join
 cross join lateral (select * from penstock.v_job v where v.job_id = t.job_id and v.enqueued_at = t.enqueued_at offset 0) j;
