-- steps_hold: jobs that came back to be run again wait, if their execution is paused.
--   p_job_ids  jobs whose rows the caller holds; a new statement after that lock sees whether somebody has paused their execution
--   writes     job_queue; their lanes go on without them
create or replace function penstock.steps_hold(p_job_ids bigint[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_lanes text[];
begin
  with held as (
    update penstock.job_queue q set status = 'blocked', hold = 'paused'
      from penstock.job_workflow w
     where q.job_id = any (p_job_ids) and q.execution_id is not null and q.status in ('ready', 'scheduled', 'retrying')
       and w.execution_id = q.execution_id and w.status = 'paused'
    returning q.lane)
  select array_agg(h.lane) filter (where h.lane is not null) into v_lanes from held h;
  if v_lanes is not null then
    perform penstock.lanes_advance(v_lanes);
  end if;
end
$$;
