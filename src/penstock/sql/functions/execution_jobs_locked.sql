-- execution_jobs_locked: lock every live job of an execution whose workflow the caller has locked.
--   returns  their ids. A finish that was under way may have written others while we waited: done only when a new look, which waits for
--            nobody, finds none but ours. A job that is being ended is still seen by it, and what it writes comes of none of ours
--   locks    job_queue rows by job_id
create or replace function penstock.execution_jobs_locked(p_execution_id bigint) returns bigint[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_locked bigint[];
begin
  loop
    v_locked := array(select q.job_id from penstock.job_queue q where q.execution_id = p_execution_id order by q.job_id for update);
    exit when not exists (select from penstock.job_queue q where q.execution_id = p_execution_id and q.job_id <> all (v_locked));
  end loop;
  return v_locked;
end
$$;
