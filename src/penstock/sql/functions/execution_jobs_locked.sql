-- execution_jobs_locked: lock every live job of an execution whose workflow the caller has locked.
--   returns  their ids. A finish that was under way may have written others meanwhile: looked for again until there are no new ones
--   locks    job_queue rows by job_id
create or replace function penstock.execution_jobs_locked(p_execution_id bigint) returns bigint[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- null: a look that had to wait says nothing about what was written meanwhile, so there are two at least
  v_locked bigint[];
  v_found bigint[];
begin
  loop
    v_found := array(select q.job_id from penstock.job_queue q where q.execution_id = p_execution_id order by q.job_id for update);
    exit when v_found <@ v_locked;
    v_locked := v_found;
  end loop;
  return v_found;
end
$$;
