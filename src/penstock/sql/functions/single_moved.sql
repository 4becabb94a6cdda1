-- single_moved: move an execution that is one job.
--   returns  as fn_execution_move
create or replace function penstock.single_moved(p_execution_id bigint, p_action text, p_actor text) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from penstock.job j where j.job_id = p_execution_id and j.playbook_ref is not null) then
    raise exception using errcode = 'PS010', message = format('execution %s does not exist', p_execution_id),
      hint = 'penstock execution list shows the newest ones.';
  end if;
  if p_action in ('pause', 'resume') then
    raise exception using errcode = 'PS009', message = format('execution %s is one job: it cannot %s', p_execution_id, p_action);
  end if;
  if p_action = 'cancel' then
    return replace(penstock.fn_job_cancel(p_execution_id, p_actor), 'cancel_requested', 'cancelling');
  end if;
  perform penstock.fn_job_retry(p_execution_id, p_actor);
  return 'running';
end
$$;
