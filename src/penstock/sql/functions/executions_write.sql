-- executions_write: write checked requests as executions.
--   p_rows      the new ones of the requests, as jobs of their first steps
--   p_targets   what their playbooks begin with
--   p_requests  where their payloads and the pools they asked for stand
--   writes      job, job_queue, job_workflow, job_step, execution_input. What a job starts is a workflow though it has one step: its row
--               says how deep it is, who waits, and by source_ref which job started it, whether or not that waits
create or replace function penstock.executions_write(
  p_rows penstock.job_request[], p_targets penstock.playbook_target[], p_requests jsonb, p_parent penstock.execution_parent) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_single penstock.job_request[] := p_rows;
  v_steps penstock.step_start[] := '{}';
begin
  if (p_parent).job_id is not null or exists (select from unnest(p_targets) t where not t.is_single) then
    v_single := array(select r from unnest(p_rows) r join unnest(p_targets) t on t.ref = r.playbook_ref
                       where t.is_single and (p_parent).job_id is null order by r.ordinal);
    insert into penstock.job_workflow (
      execution_id, started_at, playbook_ref, open, priority, pool, source_ref, payload_ref, correlation_id, causation_event_id,
      causation_depth, trace, actor, idempotency_key, parent_job, parent_execution, depth)
    select r.job_id, now(), r.playbook_ref, 1, r.priority, p_requests -> (r.ordinal - 1) ->> 'pool',
           'penstock://job/' || (p_parent).job_id, r.payload_ref, r.correlation_id, r.causation_event_id, r.causation_depth, r.trace,
           r.actor, r.idempotency_key,
           case when (p_parent).waits then (p_parent).job_id end, (p_parent).execution_id, coalesce((p_parent).depth + 1, 0)
      from unnest(p_rows) r join unnest(p_targets) t on t.ref = r.playbook_ref
     where not t.is_single or (p_parent).job_id is not null;
    v_steps := array(
      select row(r.job_id, s.step_id, 1, 0, r.job_id, null, null, null, null, r.process_after, false)::penstock.step_start
        from unnest(p_rows) r
        join unnest(p_targets) t on t.ref = r.playbook_ref
        join penstock.playbook_step s on s.path = t.path and s.version = split_part(t.ref, '@', 2)::integer and s.is_start
       where not t.is_single or (p_parent).job_id is not null
       order by r.ordinal);
  end if;
  if cardinality(v_steps) > 0 then
    perform penstock.steps_start(v_steps);
  end if;
  if cardinality(v_single) > 0 then
    perform penstock.job_insert(v_single, true);
    update penstock.job_queue q set step_id = t.step_id
      from unnest(v_single) r join unnest(p_targets) t on t.ref = r.playbook_ref
     where t.step_id is not null and q.job_id = r.job_id;
  end if;
  insert into penstock.execution_input (execution_id, input)
  select r.job_id, p_requests -> (r.ordinal - 1) -> 'payload' from unnest(p_rows) r where r.payload_ref is not null;
end
$$;
