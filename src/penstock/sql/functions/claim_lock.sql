-- claim_lock: lock the best ready jobs of these runs: those of the best head's priority, then those below it.
--   p_runs … p_suspects  as in claim_query
--   returns              the jobs in claim order, and the number of each one's run
--   locks                job_queue rows, skipping locked ones
create or replace function penstock.claim_lock(
  p_executor_kind text, p_runs penstock.claim_run[], p_limit integer, p_suspects boolean, out jobs bigint[], out runs integer[])
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_runs penstock.claim_run[] := p_runs;
  v_query text;
  v_jobs bigint[];
  v_picks integer[];
begin
  jobs := '{}';
  runs := '{}';
  for v_below in 0..1 loop
    v_query := penstock.claim_query(p_executor_kind, v_runs, p_limit - cardinality(jobs), p_suspects, v_below = 1);
    continue when v_query is null;
    execute format('select array_agg(p.job_id), array_agg(p.run) from (%s) p', v_query) into v_jobs, v_picks;
    jobs := jobs || v_jobs;
    runs := runs || v_picks;
    exit when cardinality(jobs) >= p_limit or not penstock.claim_has_below(p_executor_kind, p_runs);
    v_runs := penstock.claim_rooms_left(p_runs, runs);
  end loop;
end
$$;
