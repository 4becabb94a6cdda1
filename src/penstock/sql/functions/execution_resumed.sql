-- execution_resumed: jobs that waited for a paused execution go on.
--   writes  job_workflow, job_queue; those with a lane join it
--   The workflow is locked by the caller.
create or replace function penstock.execution_resumed(p_execution_id bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_lanes text[];
begin
  update penstock.job_workflow w set status = 'running' where w.execution_id = p_execution_id;
  perform penstock.execution_jobs_locked(p_execution_id);
  with freed as (
    update penstock.job_queue q
       set hold = null, status = case when q.process_after > now() then 'scheduled'::penstock.job_status
                                      when q.lane is null then 'ready' else 'blocked' end
     where q.execution_id = p_execution_id and q.hold = 'paused'
    returning q.lane, q.status)
  select array_agg(distinct f.lane) filter (where f.lane is not null and f.status = 'blocked') into v_lanes from freed f;
  if v_lanes is not null then
    perform penstock.lanes_settle(v_lanes);
  end if;
  perform penstock.wake(array['']);
end
$$;
