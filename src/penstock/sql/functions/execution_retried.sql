-- execution_retried: run steps of an execution again that ended badly, each as a new job in the old one's place.
--   p_job_id  only the step this job was of; null for all that are stuck
--   returns   how many
--   writes    job_workflow, job_dead_letter, and as steps_start. A step that ran, and only could not decide where to go on, decides
--             again. Items of a loop begin as there is room for them
--   The workflow is locked by the caller.
create or replace function penstock.execution_retried(p_execution_id bigint, p_job_id bigint, p_actor penstock.actor_ref) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_stuck penstock.job_step[];
  v_again penstock.step_start[];
begin
  with stuck as (
    update penstock.job_step t set is_stuck = false
     where t.execution_id = p_execution_id and t.is_stuck and (p_job_id is null or p_job_id in (t.job_id, t.decider))
    returning t.*)
  select array_agg(s::penstock.job_step order by s.job_id) into v_stuck from stuck s;
  if v_stuck is null then
    return 0;
  end if;
  v_again := array(
    select row(s.execution_id, s.step_id, s.visit, case when s.decider is not null then -1 else s.item end, null, s.job_id, s.via,
               case when s.item > 0 and p.max_in_flight is not null then 'loop' end, i.item, null,
               s.decider is null)::penstock.step_start
      from unnest(v_stuck) s
      join penstock.playbook_step p on p.step_id = s.step_id
      left join penstock.job_item i on i.job_id = s.job_id
     order by s.job_id);
  update penstock.job_workflow w
     set status = case when w.status = 'failed' then 'running' else w.status end, finished_at = null,
         open = w.open + cardinality(v_again), stuck = w.stuck - cardinality(v_again)
   where w.execution_id = p_execution_id;
  perform penstock.steps_start(v_again);
  update penstock.job_dead_letter d
     set resolved_at = now(), resolved_by = p_actor, resolution = 'replayed', replay_job_id = coalesce(t.decider, t.job_id)
    from unnest(v_stuck) s
    join penstock.job_step t on (t.execution_id, t.step_id, t.visit, t.item) = (s.execution_id, s.step_id, s.visit, s.item)
   where d.job_id in (s.job_id, s.decider) and d.resolved_at is null;
  -- the new jobs have them now
  delete from penstock.job_item i using unnest(v_stuck) s where i.job_id = s.job_id and s.decider is null;
  perform penstock.loops_advance(array(
    select row(s.execution_id, s.step_id, s.visit, s.item, s.job_id, 'stuck', null, null)::penstock.step_end
      from unnest(v_stuck) s where s.item > 0));
  return cardinality(v_again);
end
$$;
