-- v_job_awaiting: jobs that wait for an answer or a time, with what was asked and of whom; never the callback key.
create or replace view penstock.v_job_awaiting as
select a.job_id, q.execution_id, j.step, j.playbook_ref, a.prompt, a.approvers, a.asked_at, q.process_after as due_at, a.on_due,
       a.key_hash is not null as has_key
  from penstock.job_await a
  join penstock.job_queue q on q.job_id = a.job_id and q.status = 'awaiting'
  join penstock.job j on j.job_id = q.job_id and j.enqueued_at = q.enqueued_at;
