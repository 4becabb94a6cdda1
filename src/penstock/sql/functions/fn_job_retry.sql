-- fn_job_retry: do not wait: a scheduled or retrying job is ready now; a dead-lettered one is replayed.
--   returns  the job to look at: the same, or the new one of a replay
--   writes   job_queue, execution_event; or as fn_job_dead_letter_replay
--   locks    its job_queue row, or its dead letter
create or replace function penstock.fn_job_retry(p_job_id bigint, p_actor text default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_letter bigint;
  v_queue penstock.job_queue;
begin
  select d.dead_letter_id into v_letter from penstock.job_dead_letter d where d.job_id = p_job_id and d.resolved_at is null;
  if found then
    return penstock.fn_job_dead_letter_replay(v_letter, p_actor);
  end if;
  v_queue := penstock.job_locked(p_job_id, 'be retried');
  if v_queue.status not in ('scheduled', 'retrying') then
    raise exception using errcode = 'PS009',
      message = format('job %s is %s: only a scheduled, retrying or dead-lettered job can be retried', p_job_id, v_queue.status);
  end if;
  perform penstock.happened(p_job_id, 'retry_requested', v_actor);
  update penstock.job_queue q set process_after = now() where q.job_id = p_job_id;
  perform penstock.jobs_promote(array[p_job_id]);
  return p_job_id;
end
$$;
