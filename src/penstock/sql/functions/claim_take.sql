-- claim_take: take jobs of these runs.
--   p_executor …   as in fn_job_claim
--   p_runs         the runs that have room, best head first
--   returns        the jobs now leased (or running, if p_start and nothing speaks against it), in no order
--   locks          job_queue rows (skipping locked ones)
create or replace function penstock.claim_take(
  p_executor penstock.executor, p_runs penstock.claim_run[], p_limit integer, p_incarnation uuid, p_start boolean,
  p_suspects boolean)
returns penstock.job_claim[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_rule bigint;
  v_jobs bigint[];
  v_picks integer[];
  v_token bigint;
  v_lease_ms bigint;
  v_max_attempts bigint;
  v_claims penstock.job_claim[] := '{}';
begin
  select l.jobs, l.runs into v_jobs, v_picks from penstock.claim_lock(p_executor.executor_kind, p_runs, p_limit, p_suspects) l;
  if coalesce(cardinality(v_jobs), 0) = 0 then
    return v_claims;
  end if;
  -- after the rows are locked: so a job's later claim always has the higher token
  v_token := nextval('penstock.lease_token_seq');
  for v_rule, v_lease_ms, v_max_attempts, v_jobs in
    with term as materialized (
      select r.ordinality, r.rule, penstock.config_for_kind('queue.lease_ms', r.job_kind, 60000) as lease_ms,
             penstock.config_for_kind('queue.retry.max_attempts', r.job_kind, 5) as max_attempts
        from unnest(p_runs) with ordinality r)
    select t.rule, t.lease_ms, t.max_attempts, array_agg(p.job_id)
      from unnest(v_jobs, v_picks) p(job_id, run) join term t on t.ordinality = p.run
     group by t.rule, t.lease_ms, t.max_attempts
  loop
    v_claims := v_claims || penstock.claim_mark(v_jobs, v_token, v_rule, v_lease_ms, v_max_attempts, p_incarnation, p_start);
  end loop;
  return v_claims;
end
$$;
