-- workflows_counted: keep the number of live jobs of workflows, and conclude those that have none left.
--   p_ends, p_starts  jobs that ended, and jobs that were written after them
--   writes            job_workflow, job_step; a job that tells whoever waits for the execution, in that one's pool: somebody serves it
create or replace function penstock.workflows_counted(p_ends penstock.step_end[], p_starts penstock.step_start[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_waiting bigint[];
begin
  update penstock.job_step t set is_stuck = true
    from unnest(p_ends) e
   where e.how = 'stuck' and (t.execution_id, t.step_id, t.visit, t.item) = (e.execution_id, e.step_id, e.visit, greatest(e.item, 0));
  with counted as (
    select u.execution_id, sum(u.open)::integer as open, sum(u.stuck)::integer as stuck
      from (select e.execution_id, -1 as open, (e.how = 'stuck')::integer as stuck from unnest(p_ends) e
            union all select s.execution_id, 1, 0 from unnest(p_starts) s
              join penstock.job_workflow w on w.execution_id = s.execution_id and w.status in ('running', 'paused')) u
     group by u.execution_id
    having sum(u.open) <> 0 or sum(u.stuck) <> 0
  ), moved as (
    update penstock.job_workflow w
       set open = w.open + c.open, stuck = w.stuck + c.stuck,
           status = case when w.open + c.open > 0 then w.status when w.status = 'cancelling' then 'cancelled'
                         when w.stuck + c.stuck > 0 then 'failed' else 'succeeded' end,
           finished_at = case when w.open + c.open = 0 then clock_timestamp() end,
           answer_job = case when w.open + c.open = 0 and w.parent_job is not null then nextval('penstock.job_id_seq') end
      from counted c where w.execution_id = c.execution_id
    returning w.execution_id, w.finished_at, w.parent_job
  )
  select array_agg(m.execution_id) filter (where m.finished_at is not null and m.parent_job is not null) into v_waiting from moved m;
  if v_waiting is not null then
    perform penstock.job_insert(array(
      select row(w.ordinality, f.answer_job, 'tool:child_ended', null, 'PG_worker', null, null, null,
                 jsonb_build_object('execution', w.execution_id, 'job', f.parent_job), 0, null, null, null, 'system:playbook',
                 coalesce(q.pool, 'shared'), null, null, null, null, null, null, null, null)::penstock.job_request
        from unnest(v_waiting) with ordinality w(execution_id, ordinality)
        join penstock.job_workflow f on f.execution_id = w.execution_id
        left join penstock.job_queue q on q.job_id = f.parent_job order by w.ordinality), true);
  end if;
end
$$;
