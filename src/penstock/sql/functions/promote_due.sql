-- promote_due: make scheduled and retrying jobs ready whose time has come.
--   p_limit  at most this many, the longest due first
--   returns  how many became ready or joined their lane
--   locks    job_queue rows, skipping locked ones
create or replace function penstock.promote_due(p_limit integer) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- a variable: the index cannot be searched for a volatile function's value
  v_now timestamptz := clock_timestamp();
  v_due bigint[] := array(
    select q.job_id from penstock.job_queue q
     where q.status in ('scheduled', 'retrying') and q.process_after <= v_now
     order by q.process_after limit p_limit for update skip locked);
begin
  if cardinality(v_due) > 0 then
    perform penstock.jobs_promote(v_due);
  end if;
  return cardinality(v_due);
end
$$;
