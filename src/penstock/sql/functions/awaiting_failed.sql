-- awaiting_failed: jobs that waited will have no good answer: into the dead letter, or on as their playbook says.
--   p_job_ids  awaiting jobs; they and their workflows are locked by the caller
--   writes     job_queue, job_await, job_outcome, and as jobs_bury
create or replace function penstock.awaiting_failed(p_job_ids bigint[], p_reason text, p_error jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  delete from penstock.job_await a where a.job_id = any (p_job_ids);
  insert into penstock.job_outcome (
    job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status, reason, error)
  select q.job_id, clock_timestamp(), q.lease_token, q.enqueued_at, q.started_at, q.leased_by, q.attempt, 'dead_lettered', p_reason, p_error
    from penstock.job_queue q where q.job_id = any (p_job_ids);
  perform penstock.jobs_bury(p_job_ids, p_reason);
end
$$;
