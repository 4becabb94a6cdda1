-- fn_execution_move: cancel, pause, resume or retry an execution.
--   p_action   cancel: nothing more of it is begun, and what runs is told; pause: what waits to run waits on, what runs ends, and
--              what comes after it waits; resume: after a pause; retry: run the steps again that ended badly
--   returns    what it is now: cancelled, cancelling, paused, running. An execution of one step can be cancelled and retried
--   refuses    what its state does not allow, with PS009; an unknown one with PS010; who may not speak for its actor
--   writes     job_workflow, job_queue, job_outcome, execution_event; executions it started and waits for move with it
--   locks      the workflows of all of them by id, then their job_queue rows by job_id
create or replace function penstock.fn_execution_move(p_execution_id bigint, p_action text, p_actor text default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_family bigint[] := penstock.workflow_family(array[p_execution_id]);
  v_workflow penstock.job_workflow;
begin
  if p_action is null or p_action not in ('cancel', 'pause', 'resume', 'retry') then
    raise exception using errcode = 'PS011', message = format('%L is no move of an execution: cancel, pause, resume or retry', p_action);
  end if;
  select * into v_workflow from penstock.job_workflow w where w.execution_id = p_execution_id;
  if not found then
    return penstock.single_moved(p_execution_id, p_action, p_actor);
  end if;
  perform penstock.actor_checked(v_workflow.actor);
  if v_workflow.status <> all (case p_action when 'cancel' then array['running', 'paused', 'cancelling'] when 'pause' then array['running']
                                             when 'resume' then array['paused'] else array['failed'] end) then
    raise exception using errcode = 'PS009',
      message = format('execution %s is %s: it cannot %s', p_execution_id, v_workflow.status,
                       case p_action when 'cancel' then 'be cancelled' when 'retry' then 'be retried' else p_action end);
  end if;
  if p_action = 'retry' then
    perform penstock.happened(p_execution_id, 'execution_retry', v_actor);
    perform penstock.execution_retried(p_execution_id, null, v_actor);
  else
    perform penstock.family_moved(v_family, p_action, v_actor);
  end if;
  return (select w.status from penstock.job_workflow w where w.execution_id = p_execution_id);
end
$$;
