-- workflows_locked: lock the workflows of these jobs, before any of the jobs is touched.
--   p_plain  false: leave out those whose step goes on plainly, and that nobody has asked to cancel
--   returns  the executions
--   locks    job_workflow rows by execution_id
create or replace function penstock.workflows_locked(p_job_ids bigint[], p_plain boolean default true) returns bigint[]
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_wanted bigint[] := array(
    select distinct q.execution_id from penstock.job_queue q join penstock.playbook_step s on s.step_id = q.step_id
     where q.job_id = any (p_job_ids) and q.execution_id is not null
       and (p_plain or s.plain_next is null or q.item <> 0 or q.cancel_requested));
begin
  return array(select w.execution_id from penstock.job_workflow w where w.execution_id = any (v_wanted)
                order by w.execution_id for update);
end
$$;
