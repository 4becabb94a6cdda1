-- steps_failed: how the steps of these buried jobs of workflows end: as their on_error says.
--   p_job_ids  live job_queue rows; those of no workflow are left out
--   p_reason   deadline: nobody answered in time, for which a step may have an arc of its own
--   reads      job_queue, playbook_step, playbook_arc
create or replace function penstock.steps_failed(p_job_ids bigint[], p_reason text) returns penstock.step_end[]
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select array(
    select row(q.execution_id, q.step_id, q.visit, q.item, q.job_id,
               case when q.item = -1 then 'stuck'
                    when p_reason = 'deadline' and exists (
                      select from penstock.playbook_arc a where a.from_step = q.step_id and a.kind = 'late') then 'late'
                    when s.on_error = 'continue' then 'done' when s.on_error = 'step' then 'failed' else 'stuck' end,
               null, null)::penstock.step_end
      from penstock.job_queue q join penstock.playbook_step s on s.step_id = q.step_id
     where q.job_id = any (p_job_ids) and q.execution_id is not null
     order by q.job_id)
$$;
