-- execution_rows: requests as the jobs of their first steps, checked; or refused, whole.
--   p_requests  as fn_execute_batch says
--   p_targets   what their playbooks begin with
--   p_parent    the job that starts them, whose actor they have; null: the caller's rights are checked
--   writes      nothing, and takes no key
create or replace function penstock.execution_rows(
  p_requests jsonb, p_targets penstock.playbook_target[], p_parent penstock.execution_parent) returns penstock.job_request[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_rows penstock.job_request[];
begin
  perform penstock.execution_requests_check(p_requests, p_targets);
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
      join unnest(p_targets) t on t.path = r.playbook
     cross join lateral (select nextval('penstock.job_id_seq') + 0 * r.ordinality) i(id)
     order by r.ordinality);
  if (p_parent).job_id is null then
    perform penstock.job_request_check(v_rows);
  elsif exists (select from unnest(v_rows) r where penstock.job_request_fault(r, null) is not null) then
    perform penstock.job_request_refuse(v_rows);
  end if;
  return v_rows;
end
$$;
