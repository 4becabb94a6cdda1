-- claim_run_take: take jobs of one run, those of its head's priority first. The common claim, made cheap for a lone job.
--   p_run     a run that has room
--   p_limit … as in fn_job_claim
--   returns   the jobs now leased (or running, if p_start and nothing speaks against it), in no order
--   locks     job_queue rows (skipping locked ones)
create or replace function penstock.claim_run_take(
  p_executor_kind text, p_run penstock.claim_run, p_limit integer, p_incarnation uuid, p_start boolean, p_suspects boolean)
returns penstock.job_claim[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_lease_ms bigint := penstock.config_for_kind('queue.lease_ms', p_run.job_kind, 60000);
  v_max_attempts bigint := penstock.config_for_kind('queue.retry.max_attempts', p_run.job_kind, 5);
  v_limit integer := least(p_limit, p_run.room);
  v_claims penstock.job_claim[];
begin
  v_claims := penstock.claim_run_mark(
    p_executor_kind, p_run, p_run.head_priority, p_run.head_priority, p_run.head_job_id, v_limit, v_lease_ms, v_max_attempts,
    p_incarnation, p_start, p_suspects);
  if cardinality(v_claims) < v_limit and penstock.claim_has_below(p_executor_kind, array[p_run]) then
    v_claims := v_claims || penstock.claim_run_mark(
      p_executor_kind, p_run, p_run.head_priority - 1, p_run.priority_floor, 0, v_limit - cardinality(v_claims), v_lease_ms,
      v_max_attempts, p_incarnation, p_start, p_suspects);
  end if;
  return v_claims;
end
$$;
