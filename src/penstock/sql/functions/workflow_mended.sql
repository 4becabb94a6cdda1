-- workflow_mended: count an execution anew that has not ended and has no live job; says so in the trail.
--   returns  whether there was anything to mend
--   writes   job_loop, job_join, job_workflow, execution_event, and as steps_start
--   With no job alive and no step stuck every arc is settled: joins that were reached start, loops whose items have ended go on,
--   and where there is neither, it is over. The workflow is locked by the caller, and looked at in a new statement.
create or replace function penstock.workflow_mended(p_execution_id bigint) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_ends penstock.step_end[];
  v_starts penstock.step_start[];
begin
  if exists (select from penstock.job_queue q where q.execution_id = p_execution_id) then
    return false;
  end if;
  perform penstock.happened(p_execution_id, 'execution_recounted', 'system:playbook');
  with over as (
    delete from penstock.job_loop l
     where l.execution_id = p_execution_id and l.remaining > 0 and not exists (
       select from penstock.job_step t where (t.execution_id, t.step_id, t.visit) = (l.execution_id, l.step_id, l.visit) and t.is_stuck)
    returning l.*)
  select array_agg(row(o.execution_id, o.step_id, o.visit, 0, t.job_id, case when o.failed > 0 then 'failed' else 'done' end, null,
                       null)::penstock.step_end)
    into v_ends
    from over o join penstock.job_step t on (t.execution_id, t.step_id, t.visit, t.item) = (o.execution_id, o.step_id, o.visit, 0);
  v_starts := penstock.arcs_followed(coalesce(v_ends, '{}'));
  -- in a new statement: the loops' ends may have filled one
  v_starts := v_starts || array(
    select row(j.execution_id, j.step_id, 1, 0, null, null, j.via, null, null, null, false)::penstock.step_start
      from penstock.job_join j join penstock.job_workflow w on w.execution_id = j.execution_id and w.stuck = 0
     where j.execution_id = p_execution_id and j.via <> '{}'
       and j.step_id not in (select s.step_id from unnest(v_starts) s)
       and not exists (select from penstock.job_step t where t.execution_id = j.execution_id and t.step_id = j.step_id));
  update penstock.job_workflow w set open = 1 where w.execution_id = p_execution_id;
  if cardinality(v_starts) > 0 then
    perform penstock.steps_start(v_starts);
  end if;
  -- one end for the one it was set to
  perform penstock.workflows_counted(array[row(p_execution_id, null, null, 0, null, 'gone', null, null)::penstock.step_end], v_starts);
  return true;
end
$$;
