-- job_locked: lock one live job for an operator's move.
--   returns  its job_queue row; refuses a finished job with PS009, an unknown one with PS010, and with PS004 a caller
--            that may not speak for the actor the job was enqueued by
--   locks    its job_queue row
create or replace function penstock.job_locked(p_job_id bigint, p_move text) returns penstock.job_queue
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_queue penstock.job_queue;
  v_actor text;
  v_status text;
begin
  select * into v_queue from penstock.job_queue q where q.job_id = p_job_id for update;
  select j.actor into v_actor from penstock.job j where j.job_id = p_job_id;
  if not found then
    raise exception using errcode = 'PS010', message = format('job %s does not exist', p_job_id),
      hint = 'penstock job list shows the newest ones.';
  end if;
  perform penstock.actor_checked(v_actor);
  if v_queue.job_id is null then
    select o.status into v_status from penstock.job_outcome o
     where o.job_id = p_job_id and o.status in ('succeeded', 'dead_lettered', 'cancelled');
    raise exception using errcode = 'PS009', message = format('job %s is %s: it cannot %s', p_job_id, v_status, p_move);
  end if;
  return v_queue;
end
$$;
