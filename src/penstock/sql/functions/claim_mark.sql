-- claim_mark: write the lease on jobs that are locked.
--   p_jobs          locked, ready jobs of one rule, lease and retry policy
--   p_max_attempts  the policy's; a job's own goes before it. A last attempt is not started here: it is started alone
--   returns         the jobs, in no order
--   writes          job_queue
--   Planned anew with every call: a plan made for an empty queue must not meet a full one.
create or replace function penstock.claim_mark(
  p_jobs bigint[], p_token bigint, p_rule bigint, p_lease_ms bigint, p_max_attempts bigint, p_incarnation uuid, p_start boolean)
returns penstock.job_claim[]
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_claims penstock.job_claim[];
begin
  with marked as (
    update penstock.job_queue q
       set status = case when p_start and q.reaped = 0 and q.attempt + 1 < coalesce(q.max_attempts, p_max_attempts)
                         then 'running'::penstock.job_status else 'leased' end,
           started_at = case when p_start and q.reaped = 0 and q.attempt + 1 < coalesce(q.max_attempts, p_max_attempts)
                             then clock_timestamp() end,
           attempt = q.attempt + 1, lease_token = p_token, leased_by = p_incarnation, rule = p_rule,
           lease_until = clock_timestamp() + p_lease_ms * interval '1 millisecond'
     where q.job_id = any (p_jobs)
    returning q.job_id, q.lease_token, q.job_kind, q.attempt, q.status = 'running', q.reaped > 0, q.priority, q.lease_until,
              q.enqueued_at)
  select array_agg(m::penstock.job_claim) into v_claims from marked m;
  return v_claims;
end
$$;
