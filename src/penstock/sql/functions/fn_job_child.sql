-- fn_job_child: a running job starts an execution of a playbook that its own playbook names.
--   p_job_id, p_token  the job and the token of its claim: only who holds it may
--   p_request          as of fn_execute_batch, without actor: it runs on behalf of the job's. The same idempotency_key of the same job is
--                      the same child
--   p_wait             the job will wait for it to end: it is told then, moves with the job's execution, and never runs twice
--   returns            execution_id; the same one again when the job is tried again
--   refuses            with PS009 who does not hold the job, with PS011 executions that start one another without end
--   writes             as executions_start
create or replace function penstock.fn_job_child(p_job_id bigint, p_token bigint, p_request jsonb, p_wait boolean) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_rules bigint[] := penstock.caller_rules();
  v_held penstock.job;
  v_parent penstock.execution_parent;
  v_depth integer;
  v_child bigint;
begin
  select j.* into v_held from penstock.job_queue q join penstock.job j on j.job_id = q.job_id and j.enqueued_at = q.enqueued_at
   where q.job_id = p_job_id and q.lease_token = p_token and q.status = 'running' and not q.cancel_requested
     and (v_rules is null or q.rule = any (v_rules))
     for share of q;
  if not found then
    raise exception using errcode = 'PS009',
      message = format('job %s is not held under this token, or is being cancelled: it starts nothing', p_job_id);
  end if;
  if not exists (
    select from penstock.catalog c
     where c.path = split_part(v_held.playbook_ref, '@', 1) and c.version = split_part(v_held.playbook_ref, '@', 2)::integer
       and p_request ->> 'playbook' in (select penstock.catalog_playbooks('Playbook', c.content))) then
    raise exception using errcode = 'PS016', 
      message = format('%s does not name the playbook %s', v_held.playbook_ref, p_request ->> 'playbook');
  end if;
  v_depth := coalesce((select w.depth from penstock.job_workflow w where w.execution_id = v_held.execution_id), 0);
  if v_depth >= penstock.config_text('execution.max_depth', '16')::integer then
    raise exception using errcode = 'PS011',
      message = format('%s executions have started one another: %s is not started', v_depth + 1, p_request ->> 'playbook'),
      hint = 'A playbook that starts itself needs an end; execution.max_depth is how deep it may go.';
  end if;
  v_parent := row(p_job_id, coalesce(v_held.execution_id, p_job_id), v_held.actor, v_depth, p_wait, v_held.causation_event_id,
                  v_held.causation_depth);
  v_child := (select e.execution_id from penstock.executions_start(jsonb_build_array(
    p_request || jsonb_build_object('idempotency_key', coalesce(p_request ->> 'idempotency_key', 'only'))), v_parent) e);
  if exists (select from penstock.job_workflow w where w.execution_id = v_held.execution_id and w.status = 'paused')
     and exists (select from penstock.job_workflow w where w.execution_id = v_child and w.status = 'running' for update) then
    perform penstock.execution_paused(v_child);
  end if;
  return v_child;
end
$$;
