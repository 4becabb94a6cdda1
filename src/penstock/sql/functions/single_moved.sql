-- single_moved: move an execution that is one job.
--   returns  cancelled, cancelling, or which execution takes its place; refuses who may not speak for its actor
create or replace function penstock.single_moved(p_execution_id bigint, p_action text, p_actor text) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_actor text := (select j.actor from penstock.job j where j.job_id = p_execution_id and j.playbook_ref is not null);
begin
  if v_actor is null then
    raise exception using errcode = 'PS010', message = format('execution %s does not exist', p_execution_id),
      hint = 'penstock execution list shows the newest ones.';
  end if;
  perform penstock.actor_checked(v_actor);
  if p_action in ('pause', 'resume') then
    raise exception using errcode = 'PS009', message = format('execution %s is one job: it cannot %s', p_execution_id, p_action);
  end if;
  if p_action = 'cancel' then
    return replace(penstock.fn_job_cancel(p_execution_id, p_actor), 'cancel_requested', 'cancelling');
  end if;
  return 'replayed as ' || penstock.fn_job_retry(p_execution_id, p_actor);
end
$$;
