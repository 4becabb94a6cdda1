-- fn_execution_move: cancel, pause, resume or retry an execution.
--   p_action   cancel: nothing more of it is begun, and what runs is told; pause: what waits to run waits on, what runs ends, and
--              what comes after it waits; resume: after a pause; retry: run the steps again that ended badly
--   returns    what it is now: cancelled, cancelling, paused, running. An execution of one step can be cancelled and retried
--   refuses    what its state does not allow, with PS009; an unknown one with PS010
--   writes     job_workflow, job_queue, job_outcome, execution_event; executions it started and waits for move with it
--   locks      job_workflow rows (its children's ids are higher), then its job_queue rows by job_id
create or replace function penstock.fn_execution_move(p_execution_id bigint, p_action text, p_actor text default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_workflow penstock.job_workflow;
  v_status text;
  v_child bigint;
begin
  if p_action is null or p_action not in ('cancel', 'pause', 'resume', 'retry') then
    raise exception using errcode = 'PS011', message = format('%L is no move of an execution: cancel, pause, resume or retry', p_action);
  end if;
  select * into v_workflow from penstock.job_workflow w where w.execution_id = p_execution_id for update;
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
  perform penstock.happened(p_execution_id, 'execution_' || p_action, v_actor);
  case p_action
    when 'cancel' then perform penstock.execution_cancelled(p_execution_id);
    when 'pause' then perform penstock.execution_paused(p_execution_id);
    when 'resume' then perform penstock.execution_resumed(p_execution_id);
    else perform penstock.execution_retried(p_execution_id, null, v_actor);
  end case;
  if p_action <> 'retry' then
    for v_child in
      select w.execution_id from penstock.job_workflow w
       where w.parent_execution = p_execution_id and w.parent_job is not null
         and w.status = any (case p_action when 'cancel' then array['running', 'paused'] when 'pause' then array['running']
                                           else array['paused'] end)
       order by w.execution_id
    loop
      perform penstock.fn_execution_move(v_child, p_action, p_actor);
    end loop;
  end if;
  select w.status into v_status from penstock.job_workflow w where w.execution_id = p_execution_id;
  return v_status;
end
$$;
