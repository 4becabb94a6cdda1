-- queue_analyze: look at the queue again when it has grown past what its statistics know, so that no session goes on with
-- a plan made for an empty one.
--   returns  whether it was done
--   locks    job_queue, share update exclusive; gives up at once while a vacuum works on it
create or replace function penstock.queue_analyze() returns boolean
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '20ms' as $$
begin
  if pg_relation_size('penstock.job_queue') / 8192 <= 64 + 2 * (
       select greatest(c.relpages, 0) from pg_class c where c.oid = 'penstock.job_queue'::regclass) then
    return false;
  end if;
  analyze penstock.job_queue;
  return true;
exception when lock_not_available then
  return false;
end
$$;
