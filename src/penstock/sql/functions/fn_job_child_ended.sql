-- fn_job_child_ended: an execution that a job waits for has ended: the job has its answer, or will have no good one.
--   p_execution_id  the execution; one that has not ended, or whose parent waits no more, changes nothing
--   returns         whether a job had waited. Its result: the execution, and what the step gave back that ended it
--   writes          as fn_job_resume, or as a failed job; job_workflow: that nobody has to be told any more
--   locks           the parent's workflow, then the child's, which has the higher id; then the parent's job_queue row
create or replace function penstock.fn_job_child_ended(p_execution_id bigint) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_child penstock.job_workflow;
  v_waited boolean;
begin
  perform penstock.workflows_locked(array(select w.parent_job from penstock.job_workflow w where w.execution_id = p_execution_id));
  select * into v_child from penstock.job_workflow w where w.execution_id = p_execution_id and w.finished_at is not null for update;
  perform from penstock.job_queue q where q.job_id = v_child.parent_job and q.status = 'awaiting' for update;
  v_waited := found;
  if v_waited and v_child.status = 'succeeded' then
    perform penstock.awaiting_done(array[v_child.parent_job], jsonb_build_object('execution', p_execution_id, 'result', (
      select r.result from penstock.job_step t
        join penstock.job_outcome o on o.job_id = t.job_id
        left join penstock.job_result r on r.job_id = t.job_id
       where t.execution_id = p_execution_id order by o.finished_at desc limit 1)));
  elsif v_waited then
    perform penstock.awaiting_failed(array[v_child.parent_job], 'child_' || v_child.status, jsonb_build_object(
      'type', 'ChildEnded', 'message', format('execution %s of %s has %s', p_execution_id, v_child.playbook_ref,
                                              case v_child.status when 'failed' then 'failed' else 'been cancelled' end)));
  end if;
  -- one that lives, and does not wait yet, will have to be told again
  update penstock.job_workflow w set answer_job = null
   where w.execution_id = v_child.execution_id and w.answer_job is not null
     and not exists (select from penstock.job_queue q where q.job_id = w.parent_job);
  return v_waited;
end
$$;
