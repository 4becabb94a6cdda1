-- jobs_due: may a look at the lanes and at the clock bring jobs? Cheaper to ask than to look.
--   reads  lane_check, job_queue
create or replace function penstock.jobs_due() returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  return exists (select from penstock.lane_check)
      or exists (select from penstock.job_queue q where q.status in ('scheduled', 'retrying') and q.process_after <= v_now)
      or exists (select from penstock.job_queue q where q.status = 'awaiting' and q.process_after <= v_now);
end
$$;
