-- awaiting_done: jobs that waited have their answer.
--   p_job_ids  awaiting jobs; they and their workflows are locked by the caller
--   p_result   the answer, null for none
--   writes     job_queue, job_await, job_outcome, job_result; frees lanes; the steps that come after
create or replace function penstock.awaiting_done(p_job_ids bigint[], p_result jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_lanes text[];
  v_ends penstock.step_end[];
begin
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  with gone as (
    delete from penstock.job_queue q where q.job_id = any (p_job_ids) returning q.*
  ), unasked as (
    delete from penstock.job_await a where a.job_id = any (p_job_ids)
  ), ended as (
    insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status)
    select g.job_id, clock_timestamp(), g.lease_token, g.enqueued_at, g.started_at, g.leased_by, g.attempt, 'succeeded' from gone g
  ), answered as (
    insert into penstock.job_result (job_id, result) select g.job_id, p_result from gone g where p_result is not null
  )
  select array_agg(g.lane) filter (where g.lane is not null),
         array_agg(row(g.execution_id, g.step_id, g.visit, g.item, g.job_id, 'done', null, null)::penstock.step_end order by g.job_id)
           filter (where g.execution_id is not null)
    into v_lanes, v_ends from gone g;
  if v_lanes is not null then
    perform penstock.lanes_advance(v_lanes);
  end if;
  if v_ends is not null then
    perform penstock.steps_end(v_ends);
  end if;
end
$$;
