-- loops_ended: items of loops have ended: loops without any left end themselves.
--   p_ends   ends of items; none is stuck
--   returns  the ends of the loops' steps
--   writes   job_loop
create or replace function penstock.loops_ended(p_ends penstock.step_end[]) returns penstock.step_end[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_ended penstock.step_end[];
begin
  with counted as (
    update penstock.job_loop l set remaining = l.remaining - e.count, failed = l.failed + e.failed
      from (select x.execution_id, x.step_id, x.visit, count(*) as count, count(*) filter (where x.how = 'failed') as failed
              from unnest(p_ends) x group by 1, 2, 3) e
     where (l.execution_id, l.step_id, l.visit) = (e.execution_id, e.step_id, e.visit)
    returning l.*, (select t.job_id from penstock.job_step t
                     where (t.execution_id, t.step_id, t.visit, t.item) = (l.execution_id, l.step_id, l.visit, 0)) as job_id
  )
  select array_agg(row(c.execution_id, c.step_id, c.visit, 0, c.job_id, case when c.failed > 0 then 'failed' else 'done' end,
                       null, null)::penstock.step_end)
    into v_ended from counted c where c.remaining = 0;
  return coalesce(v_ended, '{}');
end
$$;
