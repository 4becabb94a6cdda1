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
  v_rows penstock.job_request[];
  v_new penstock.job_request[];
  v_scope text;
begin
  perform penstock.execution_requests_check(p_requests, v_targets);
  -- keys are a playbook's own, or those of the job that starts it: nobody else can name them
  v_rows := array(
    select row(r.ordinality, i.id, t.job_kind, t.path || ':' || r.idempotency_key, t.executor, null, null,
               case when r.payload is not null then 'penstock://input/' || i.id end, null, coalesce(r.priority, 0), r.process_after,
               r.correlation_id, (p_parent).causation_event_id, coalesce((p_parent).actor, r.actor, 'role:' || penstock.caller()),
               coalesce(r.pool, t.pool, 'shared'), t.lane, null, r.trace, t.max_attempts, null, t.ref, null,
               (p_parent).causation_depth)::penstock.job_request
      from rows from (jsonb_to_recordset(p_requests) as (
             playbook text, payload jsonb, idempotency_key text, pool text, trace text, priority integer, process_after timestamptz,
             correlation_id text, actor text)) with ordinality r
      join unnest(v_targets) t on t.path = r.playbook
     cross join lateral (select nextval('penstock.job_id_seq') + 0 * r.ordinality) i(id)
     order by r.ordinality);
  if (p_parent).job_id is null then
    perform penstock.job_request_check(v_rows);
  elsif exists (select from unnest(v_rows) r where penstock.job_request_fault(r, null) is not null) then
    perform penstock.job_request_refuse(v_rows);
  end if;
  v_scope := coalesce('child:' || (p_parent).job_id, 'execution');
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
