-- executions_start: start executions, all of them or none. One of a single step is one job; any other a workflow and its first job.
--   p_requests  as fn_execute_batch says
--   p_parent    the job that starts them, whose actor they have; null: the caller's rights are checked
--   returns     per request its execution, and whether it was started now or known by its key
--   writes      once_key, job, job_queue, job_workflow, job_step, execution_input
create or replace function penstock.executions_start(p_requests jsonb, p_parent penstock.execution_parent)
returns table (ordinal integer, execution_id bigint, created boolean)
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_targets penstock.playbook_target[] := penstock.playbook_targets(array(
    select distinct r ->> 'playbook' from jsonb_array_elements(p_requests) r));
  v_rows penstock.job_request[] := penstock.execution_rows(p_requests, v_targets, p_parent);
  v_new penstock.job_request[];
  v_scope text := coalesce('child:' || (p_parent).job_id, 'execution');
begin
  v_new := case when exists (select from unnest(v_rows) r where r.idempotency_key is not null)
                then penstock.job_request_once(v_rows, v_scope) else v_rows end;
  perform penstock.executions_write(v_new, v_targets, p_requests, p_parent);
  if cardinality(v_new) = cardinality(v_rows) then
    return query select r.ordinal, r.job_id, true from unnest(v_rows) r;
    return;
  end if;
  return query
    select r.ordinal, coalesce(n.job_id, k.ref::bigint), n.ordinal is not null
      from unnest(v_rows) r
      left join unnest(v_new) n on n.ordinal = r.ordinal
      left join penstock.once_key k on n.ordinal is null and k.scope = v_scope and k.key = r.idempotency_key
     order by r.ordinal;
end
$$;
