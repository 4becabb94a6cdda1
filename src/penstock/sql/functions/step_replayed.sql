-- step_replayed: run a dead-lettered step of a workflow again, in its place there.
--   returns  the new job; refuses with PS009 while the execution is being cancelled, or when the step is stuck no more
create or replace function penstock.step_replayed(p_execution_id bigint, p_letter penstock.job_dead_letter, p_actor penstock.actor_ref)
returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_status text := (select w.status from penstock.job_workflow w where w.execution_id = p_execution_id);
begin
  if v_status in ('cancelling', 'cancelled', 'succeeded')
     or penstock.execution_retried(p_execution_id, p_letter.job_id, p_actor) = 0 then
    raise exception using errcode = 'PS009',
      message = format('execution %s is %s: its step %s cannot be run again', p_execution_id, v_status, p_letter.snapshot ->> 'step'),
      hint = format('penstock execution show %s says where it stands.', p_execution_id);
  end if;
  return (select d.replay_job_id from penstock.job_dead_letter d where d.dead_letter_id = p_letter.dead_letter_id);
end
$$;
