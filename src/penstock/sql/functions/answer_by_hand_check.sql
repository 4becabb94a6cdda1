-- answer_by_hand_check: a job that waits for an execution has its answer from that one's end, and from nobody else.
--   p_job_id  an awaiting job, locked by the caller: it starts no other execution meanwhile
--   refuses   with PS009 one that an execution names as the job that waits for it, also when it has ended and the job is not told yet
--   locks     none: of the execution nothing is changed
create or replace function penstock.answer_by_hand_check(p_job_id bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_child penstock.job_workflow;
begin
  select * into v_child from penstock.job_workflow w where w.parent_job = p_job_id
   order by w.finished_at is not null, w.execution_id desc limit 1;
  if not found then
    return;
  end if;
  raise exception using errcode = 'PS009',
    message = format('job %s waits for execution %s of %s%s: nobody can answer in its place', p_job_id, v_child.execution_id,
      v_child.playbook_ref, case when v_child.finished_at is not null then ', which has ' || case v_child.status
        when 'cancelled' then 'been cancelled' else v_child.status collate "default" end else '' end),
    hint = case when v_child.finished_at is not null then 'A worker, or the next tick, tells it: penstock tick.'
      else format('It goes on when that one ends. penstock execution show %1$s says where it stands, penstock execution cancel %1$s '
                  'ends it.', v_child.execution_id) end;
end
$$;
