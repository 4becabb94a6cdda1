-- single_moved: move an execution that is one job.
--   returns  cancelled, cancelling, or which execution takes its place; refuses who may not speak for its actor, and an execution of
--            several steps that is swept, and a job of another execution, which it names
create or replace function penstock.single_moved(p_execution_id bigint, p_action text, p_actor text) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_first penstock.job;
begin
  select * into v_first from penstock.job j where j.job_id = p_execution_id and j.playbook_ref is not null;
  if not found then
    raise exception using errcode = 'PS010', message = format('execution %s does not exist', p_execution_id),
      hint = 'penstock execution list shows the newest ones.';
  end if;
  perform penstock.actor_checked(v_first.actor);
  if v_first.step is not null and v_first.execution_id <> v_first.job_id then
    raise exception using errcode = 'PS010', message = format('%s is no execution: it is a job of execution %s, of the step %s',
      p_execution_id, v_first.execution_id, v_first.step), hint = format('Name that one: penstock execution %s %s', p_action,
      v_first.execution_id);
  end if;
  if v_first.step is not null then
    raise exception using errcode = 'PS009', message = format('execution %s has ended, and its steps are forgotten: it cannot %s',
      p_execution_id, case p_action when 'cancel' then 'be cancelled' when 'retry' then 'be retried' else p_action end),
      hint = 'execution.keep_days says for how long they are kept.';
  end if;
  if p_action in ('pause', 'resume') then
    raise exception using errcode = 'PS009', message = format('execution %s is one job: it cannot %s', p_execution_id, p_action);
  end if;
  if p_action = 'cancel' then
    return replace(penstock.fn_job_cancel(p_execution_id, p_actor), 'cancel_requested', 'cancelling');
  end if;
  return 'replayed as ' || penstock.fn_job_retry(p_execution_id, p_actor);
end
$$;
