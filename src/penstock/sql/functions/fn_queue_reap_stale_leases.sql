-- fn_queue_reap_stale_leases: take back jobs whose lease has ended. The handler of the job kind of that name; every tick does
-- it too, so it works even where no worker lives.
--   p_limit  at most this many
--   returns  how many were taken back
--   writes   job_queue, job_outcome, job_dead_letter
--   locks    job_queue rows by job_id, skipping locked ones
create or replace function penstock.fn_queue_reap_stale_leases(p_limit integer default 1000) returns integer
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select penstock.leases_reap(greatest(p_limit, 0))
$$;
