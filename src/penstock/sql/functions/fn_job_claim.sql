-- fn_job_claim: take jobs under a lease.
--   p_executor_id  the registered executor that claims; its job subscriptions scope what it may take
--   p_limit        at most this many, 1 to 1,000: more would not fit a socket's buffer
--   p_kinds, p_pools  only these; null for all
--   p_incarnation  the process that will hold the leases; null: a fresh one, which nothing extends
--   p_start        start them too, except those that must be started alone (reaped before, or on their last attempt)
--   p_suspects     false: leave jobs that were reaped while they ran to somebody who has time to start each alone
--   returns        the jobs, higher priority first, then lower job_id; facts are read from job, without locks. A suspect
--                  was reaped while it ran: start it alone
--   writes         job_queue; a claim that comes back short also looks after due jobs and lanes
--   locks          rules with max_parallel, then job_queue rows (skipping locked ones)
create or replace function penstock.fn_job_claim(
  p_executor_id text, p_limit integer, p_kinds text[] default null, p_pools text[] default null,
  p_incarnation uuid default null, p_start boolean default false, p_suspects boolean default true) returns setof penstock.job_claim
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_executor penstock.executor := penstock.executor_checked(p_executor_id);
  v_incarnation uuid := coalesce(p_incarnation, gen_random_uuid());
  v_claims penstock.job_claim[];
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception using errcode = 'PS011',
      message = format('p_limit is %s: a claim takes 1 to 1,000 jobs', coalesce(p_limit::text, 'null'));
  end if;
  v_claims := penstock.claim_pass(v_executor, p_limit, p_kinds, p_pools, v_incarnation, p_start, p_suspects);
  if cardinality(v_claims) = 0 then
    perform penstock.pools_check(p_pools);
  end if;
  if cardinality(v_claims) = 0
     and not exists (select from penstock.job_subscription s where s.executor_id = p_executor_id and s.enabled) then
    raise notice 'executor % has no enabled job subscription: it claims nothing (see fn_job_subscription_set)', p_executor_id;
    return;
  end if;
  if cardinality(v_claims) < p_limit and penstock.jobs_due()
     and penstock.lanes_sweep(200) + penstock.promote_due(p_limit) + penstock.awaiting_due(p_limit) > 0 then
    v_claims := v_claims
      || penstock.claim_pass(v_executor, p_limit - cardinality(v_claims), p_kinds, p_pools, v_incarnation, p_start, p_suspects);
  end if;
  return query select * from unnest(v_claims) c order by c.priority desc, c.job_id;
end
$$;
