-- steps_forget: forget the steps of executions that are forgotten: their results, items, joins, loops and inputs.
--   p_limit  at most this many steps; a large execution takes several passes
--   returns  how many steps
--   writes   job_step, job_item, job_result, and of executions without a step left job_join, job_loop, execution_input, job_workflow_gone
--   locks    job_workflow_gone rows, skipping locked ones: nobody else looks at the rest any more
create or replace function penstock.steps_forget(p_limit integer) returns integer
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_over bigint[] := array(select g.execution_id from penstock.job_workflow_gone g
                            order by g.execution_id limit p_limit for update skip locked);
  v_jobs bigint[];
  v_deciders bigint[];
begin
  if v_over = '{}' then
    return 0;
  end if;
  with gone as (
    delete from penstock.job_step t
     where t.ctid = any (array(select s.ctid from penstock.job_step s where s.execution_id = any (v_over) limit p_limit))
    returning t.job_id, t.decider)
  select coalesce(array_agg(g.job_id), '{}'), array_remove(array_agg(g.decider), null) into v_jobs, v_deciders from gone g;
  delete from penstock.job_item i where i.job_id = any (v_jobs);
  delete from penstock.job_result r where r.job_id = any (v_jobs || v_deciders);
  -- in a new statement: those that have none left
  v_over := array(
    select o from unnest(v_over) o
     where not exists (select from penstock.job_step t where t.execution_id = o offset 0));
  delete from penstock.job_join j where j.execution_id = any (v_over);
  delete from penstock.job_loop l where l.execution_id = any (v_over);
  delete from penstock.execution_input i where i.execution_id = any (v_over);
  delete from penstock.job_workflow_gone g where g.execution_id = any (v_over);
  return cardinality(v_jobs);
end
$$;
