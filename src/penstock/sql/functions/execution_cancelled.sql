-- execution_cancelled: nothing more of this execution is begun; what a worker holds is marked, and ends with its next report.
--   writes  job_workflow, job_queue, job_outcome, job_await; frees lanes
--   The workflow is locked by the caller.
create or replace function penstock.execution_cancelled(p_execution_id bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_lanes text[];
  v_ends penstock.step_end[];
begin
  update penstock.job_workflow w set status = 'cancelling' where w.execution_id = p_execution_id;
  perform penstock.execution_jobs_locked(p_execution_id);
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  update penstock.job_queue q set cancel_requested = true
   where q.execution_id = p_execution_id and q.status in ('leased', 'running');
  with gone as (
    delete from penstock.job_queue q where q.execution_id = p_execution_id and q.status not in ('leased', 'running') returning q.*
  ), unasked as (
    delete from penstock.job_await a using gone g where a.job_id = g.job_id
  ), ended as (
    insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status, reason)
    select g.job_id, clock_timestamp(), coalesce(g.lease_token, 0), g.enqueued_at, g.started_at, g.leased_by, g.attempt, 'cancelled',
           'cancelled' from gone g
  )
  select array_agg(g.lane) filter (where g.lane is not null and g.status in ('ready', 'awaiting', 'retrying')),
         array_agg(row(g.execution_id, g.step_id, g.visit, g.item, g.job_id, 'gone', null, null)::penstock.step_end)
    into v_lanes, v_ends from gone g;
  if v_lanes is not null then
    perform penstock.lanes_advance(v_lanes);
  end if;
  if v_ends is not null then
    perform penstock.steps_end(v_ends);
  end if;
end
$$;
