-- execution_retried: run steps of an execution again that ended badly, each as a new job in the old one's place.
--   p_job_id  only the step this job was; null for all that are stuck
--   returns   how many
--   writes    job_workflow, job_dead_letter, and as steps_start. A step that ran, and only could not decide where to go on, decides again
--   The workflow is locked by the caller.
create or replace function penstock.execution_retried(p_execution_id bigint, p_job_id bigint, p_actor penstock.actor_ref) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_again penstock.step_start[];
begin
  with stuck as (
    update penstock.job_step t set is_stuck = false
     where t.execution_id = p_execution_id and t.is_stuck and (p_job_id is null or t.job_id = p_job_id)
    returning t.*)
  select array_agg(row(s.execution_id, s.step_id, s.visit, case when o.is_done then -1 else s.item end, null, s.job_id, s.via, null,
                       i.item, null, not o.is_done)::penstock.step_start order by s.job_id)
    into v_again
    from stuck s
    left join penstock.job_item i on i.job_id = s.job_id
   cross join lateral (select exists (select from penstock.job_outcome o where o.job_id = s.job_id and o.status = 'succeeded')) o(is_done);
  if v_again is null then
    return 0;
  end if;
  update penstock.job_workflow w
     set status = case when w.status = 'failed' then 'running' else w.status end, finished_at = null,
         open = w.open + cardinality(v_again), stuck = w.stuck - cardinality(v_again)
   where w.execution_id = p_execution_id;
  perform penstock.steps_start(v_again);
  update penstock.job_dead_letter d
     set resolved_at = now(), resolved_by = p_actor, resolution = 'replayed', replay_job_id = t.job_id
    from unnest(v_again) a
    join penstock.job_step t on (t.execution_id, t.step_id, t.visit, t.item) = (a.execution_id, a.step_id, a.visit, greatest(a.item, 0))
   where d.job_id = a.from_job and d.resolved_at is null;
  return cardinality(v_again);
end
$$;
