-- fn_job_cancel: do not run this job, or do not believe its result.
--   p_job_id   a live job; a finished one is refused with PS009
--   p_actor, p_reason  who asks, and why; both are kept
--   returns    cancelled; or cancel_requested while a worker holds it: it turns cancelled when that worker next
--              reports (refused, reason cancelled), or when its lease ends
--   writes     job_queue, job_outcome, execution_event; frees its lane. A workflow cannot go on from a cancelled step: it fails
--              once its other jobs have ended, and can be retried from there. What it waits for is cancelled with it
--   locks      the workflows' rows, its job_queue row
create or replace function penstock.fn_job_cancel(p_job_id bigint, p_actor text default null, p_reason text default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_workflows bigint[] := penstock.workflow_family(array(
    select q.execution_id from penstock.job_queue q where q.job_id = p_job_id and q.execution_id is not null
    union select w.execution_id from penstock.job_workflow w where w.parent_job = p_job_id and w.finished_at is null));
  v_queue penstock.job_queue := penstock.job_locked(p_job_id, 'be cancelled');
begin
  if v_queue.cancel_requested then
    return 'cancel_requested';
  end if;
  perform penstock.family_moved(array(select w.execution_id from penstock.job_workflow w
                                       where w.parent_job = p_job_id and w.finished_at is null), 'cancel', v_actor);
  perform penstock.happened(p_job_id, 'cancel_requested', v_actor, jsonb_build_object('reason', left(p_reason, 500)));
  if v_queue.status in ('leased', 'running') then
    update penstock.job_queue q set cancel_requested = true where q.job_id = p_job_id;
    return 'cancel_requested';
  end if;
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  delete from penstock.job_queue q where q.job_id = p_job_id;
  delete from penstock.job_await a where a.job_id = p_job_id;
  insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status, reason)
  values (p_job_id, clock_timestamp(), coalesce(v_queue.lease_token, 0), v_queue.enqueued_at, v_queue.started_at, v_queue.leased_by,
          v_queue.attempt, 'cancelled', 'cancelled');
  if v_queue.lane is not null and v_queue.status in ('ready', 'awaiting', 'retrying') then
    perform penstock.lanes_advance(array[v_queue.lane]);
  end if;
  if v_queue.execution_id = any (v_workflows) then
    perform penstock.steps_end(array[row(v_queue.execution_id, v_queue.step_id, v_queue.visit, v_queue.item, p_job_id, 'stuck', null,
                                         null)::penstock.step_end]);
  end if;
  return 'cancelled';
end
$$;
