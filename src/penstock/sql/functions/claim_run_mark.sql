-- claim_run_mark: lock the best ready jobs of one run and write the lease on them, in one statement.
--   p_run           the run
--   p_top, p_floor  priorities, inclusive
--   p_from          not below this job_id: what was claimed before leaves dead entries ahead of a run's head, and a scan would
--                   walk over them
--   p_max_attempts  the retry policy's; a job's own goes before it. A last attempt is not started here: it is started alone
--   returns         the jobs, in no order
--   locks           job_queue rows (skipping locked ones)
create or replace function penstock.claim_run_mark(
  p_executor_kind text, p_run penstock.claim_run, p_top integer, p_floor integer, p_from bigint, p_limit integer,
  p_lease_ms bigint, p_max_attempts bigint, p_incarnation uuid, p_start boolean, p_suspects boolean)
returns penstock.job_claim[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_claims penstock.job_claim[];
begin
  with marked as (
    update penstock.job_queue q
       set status = case when p_start and q.reaped = 0 and q.attempt + 1 < coalesce(q.max_attempts, p_max_attempts)
                         then 'running'::penstock.job_status else 'leased' end,
           started_at = case when p_start and q.reaped = 0 and q.attempt + 1 < coalesce(q.max_attempts, p_max_attempts)
                             then clock_timestamp() end,
           attempt = q.attempt + 1, leased_by = p_incarnation, rule = p_run.rule,
           -- drawn once, with the first row, when all are locked: so a job's later claim always has the higher token
           lease_token = (select nextval('penstock.lease_token_seq')),
           lease_until = clock_timestamp() + p_lease_ms * interval '1 millisecond'
     where q.job_id = any (array(
       select r.job_id from penstock.job_queue r
        where r.status = 'ready' and r.executor = p_executor_kind and r.pool = p_run.pool and r.job_kind = p_run.job_kind
          and r.event_domain = p_run.event_domain and r.priority <= p_top and r.priority >= p_floor and r.job_id >= p_from
          and (p_suspects or r.reaped = 0)
        order by r.priority desc, r.job_id limit p_limit for update skip locked))
    returning q.job_id, q.lease_token, q.job_kind, q.attempt, q.status = 'running', q.reaped > 0, q.priority, q.lease_until,
              q.enqueued_at)
  select array_agg(m::penstock.job_claim) into v_claims from marked m;
  return coalesce(v_claims, '{}');
end
$$;
