-- steps_end: jobs of workflows have ended: what comes after them is written, and workflows with nothing left are concluded.
--   p_ends  the jobs, and how each ended
--   writes  execution_event, job_loop, job_join, job_workflow, and as steps_start
--   The workflows are locked by the caller.
create or replace function penstock.steps_end(p_ends penstock.step_end[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_ends penstock.step_end[] := array(select e from unnest(p_ends) e where e.how not in ('stuck', 'gone'));
  v_starts penstock.step_start[] := '{}';
begin
  if exists (select from unnest(v_ends) e where e.next is not null or e.how in ('skipped', 'failed', 'late')) then
    perform penstock.partition_ensure('execution_event', now());
    insert into penstock.execution_event (execution_id, job_id, happening, actor, detail)
    select e.execution_id,
           -- of a job that only decides, the step's own
           coalesce((select t.job_id from penstock.job_step t
                      where e.item = -1 and (t.execution_id, t.step_id, t.visit, t.item) = (e.execution_id, e.step_id, e.visit, 0)),
                    e.job_id), 'step_' || case e.how when 'done' then 'decided' else e.how end, 'system:playbook',
           jsonb_strip_nulls(jsonb_build_object('step', s.step, 'next', e.next, 'visit', nullif(e.visit, 1)))
      from unnest(v_ends) e join penstock.playbook_step s on s.step_id = e.step_id
     where e.next is not null or e.how in ('skipped', 'failed', 'late');
  end if;
  if exists (select from unnest(v_ends) e where e.item > 0 or e.items is not null) then
    v_starts := penstock.loops_opened(v_ends);
    v_ends := array(select e from unnest(v_ends) e where e.item <= 0 and coalesce(jsonb_array_length(e.items), 0) = 0)
              || penstock.loops_ended(array(select e from unnest(v_ends) e where e.item > 0));
  end if;
  if exists (select from unnest(p_ends) e where e.item > 0 and e.how <> 'gone') then
    perform penstock.loops_advance(p_ends);
  end if;
  v_starts := v_starts || penstock.arcs_followed(v_ends);
  if cardinality(v_starts) > 0 then
    perform penstock.steps_start(v_starts);
  end if;
  perform penstock.workflows_counted(p_ends, v_starts);
end
$$;
