-- claim_has_below: is there anything to take below the best head's priority? Cheaper to ask than to build the query and find none.
--   p_runs  the runs of a claim, best head first
--   reads   job_queue, one index step per run
create or replace function penstock.claim_has_below(p_executor_kind text, p_runs penstock.claim_run[]) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from unnest(p_runs) r
     cross join lateral (
       select from penstock.job_queue q
        where q.status = 'ready' and q.executor = p_executor_kind and q.pool = r.pool and q.job_kind = r.job_kind
          and q.event_domain = r.event_domain and q.priority < p_runs[1].head_priority and q.priority >= r.priority_floor
        order by q.priority desc, q.job_id limit 1) q);
end
$$;
