-- workflows_forget: forget executions of several steps that ended long ago. One whose end a job still waits to hear of stays.
--   p_before  those that ended before
--   p_limit   at most this many, the longest ended first
--   returns   how many. Their steps follow, see steps_forget
--   writes    job_workflow, job_workflow_gone; execution_event: how they had ended, while their jobs are still there
--   locks     job_workflow rows, skipping locked ones
create or replace function penstock.workflows_forget(p_before timestamptz, p_limit integer) returns integer
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_over bigint[] := array(
    select w.execution_id from penstock.job_workflow w
     where w.finished_at < p_before and not exists (select from penstock.job_queue q where q.job_id = w.parent_job)
     order by w.finished_at limit p_limit for update skip locked);
begin
  if v_over = '{}' then
    return 0;
  end if;
  perform penstock.partition_ensure('execution_event', now());
  with gone as (
    delete from penstock.job_workflow w where w.execution_id = any (v_over) returning w.*
  ), marked as (
    insert into penstock.job_workflow_gone (execution_id) select g.execution_id from gone g
  )
  insert into penstock.execution_event (execution_id, job_id, happening, actor, detail)
  select g.execution_id, g.execution_id, 'execution_swept', 'system:playbook',
         jsonb_build_object('status', g.status, 'started_at', g.started_at, 'finished_at', g.finished_at)
    from gone g
    -- offset 0: each is looked up by its id
   cross join lateral (select from penstock.job j where j.job_id = g.execution_id and j.enqueued_at = g.started_at offset 0) j;
  return cardinality(v_over);
end
$$;
