-- claim_pass: one look at the queue, taking what may be taken.
--   p_executor …   as in fn_job_claim
--   returns        the jobs taken, in no order
--   locks          rules with max_parallel, then job_queue rows (skipping locked ones)
create or replace function penstock.claim_pass(
  p_executor penstock.executor, p_limit integer, p_kinds text[], p_pools text[], p_incarnation uuid, p_start boolean,
  p_suspects boolean)
returns penstock.job_claim[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_runs penstock.claim_run[] := penstock.claim_runs(p_executor, p_kinds, p_pools);
begin
  if cardinality(v_runs) > 1 or v_runs[1].max_parallel is not null then
    -- cut to 65 only after the full ones are gone: they would hide the others
    v_runs := (penstock.claim_rooms(v_runs))[1:65];
  end if;
  return case cardinality(v_runs)
    when 0 then '{}'
    when 1 then penstock.claim_run_take(p_executor.executor_kind, v_runs[1], p_limit, p_incarnation, p_start, p_suspects)
    else penstock.claim_take(p_executor, v_runs, p_limit, p_incarnation, p_start, p_suspects) end;
end
$$;
