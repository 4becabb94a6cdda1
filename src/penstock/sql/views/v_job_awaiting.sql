-- v_job_awaiting: jobs that wait for an answer, a time or an execution, with what was asked and of whom; never the callback key.
create or replace view penstock.v_job_awaiting as
select a.job_id, q.execution_id, j.step, j.playbook_ref, a.prompt, a.approvers, a.asked_at, q.process_after as due_at, a.on_due,
       a.key_hash is not null as has_key, c.execution_id as child_execution, c.playbook_ref as child_playbook_ref
  from penstock.job_await a
  join penstock.job_queue q on q.job_id = a.job_id and q.status = 'awaiting'
  join penstock.job j on j.job_id = q.job_id and j.enqueued_at = q.enqueued_at
  -- as answer_by_hand_check: nobody is asked for an answer that would be refused
  left join lateral (
    select w.execution_id, w.playbook_ref from penstock.job_workflow w where w.parent_job = a.job_id
     order by w.finished_at is not null, w.execution_id desc limit 1) c on true;
