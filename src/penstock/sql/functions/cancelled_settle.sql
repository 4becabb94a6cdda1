-- cancelled_settle: jobs whose cancel was asked for while they were held, and whose holder has now let go, are cancelled.
--   p_job_ids, p_tokens  the jobs; others are left alone
--   p_rules              only jobs held under these rules; null for all
--   writes               job_queue, job_outcome; frees their lanes
create or replace function penstock.cancelled_settle(p_job_ids bigint[], p_tokens bigint[], p_rules bigint[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_lanes text[];
begin
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  with gone as (
    delete from penstock.job_queue q using unnest(p_job_ids, p_tokens) x(job_id, token)
     where q.job_id = any (p_job_ids) and q.job_id = x.job_id and q.lease_token = x.token
       and q.cancel_requested and q.status in ('leased', 'running') and (p_rules is null or q.rule = any (p_rules))
    returning q.*
  ), ended as (
    insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status, reason)
    select g.job_id, clock_timestamp(), g.lease_token, g.enqueued_at, g.started_at, g.leased_by, g.attempt, 'cancelled', 'cancelled'
      from gone g
  )
  select array_agg(g.lane) filter (where g.lane is not null) into v_lanes from gone g;
  if v_lanes is not null then
    perform penstock.lanes_advance(v_lanes);
  end if;
end
$$;
