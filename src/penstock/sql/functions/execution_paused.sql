-- execution_paused: what waits to run waits on; what runs ends, and what comes after it waits.
--   writes  job_workflow, job_queue; lanes go on without its jobs
--   The workflow is locked by the caller.
create or replace function penstock.execution_paused(p_execution_id bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_jobs bigint[];
begin
  update penstock.job_workflow w set status = 'paused' where w.execution_id = p_execution_id;
  v_jobs := penstock.execution_jobs_locked(p_execution_id);
  perform penstock.steps_hold(v_jobs);
  -- what waits for its lane waits for the execution now
  update penstock.job_queue q set hold = 'paused' where q.job_id = any (v_jobs) and q.status = 'blocked' and q.hold is null;
end
$$;
