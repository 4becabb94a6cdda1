-- results_forget: forget what jobs gave back long ago.
--   p_before  written before
--   p_after   where the last pass ended
--   p_limit   how many are looked at, in the order of their ids
--   returns   gone: how many; after: where to go on, 0 from the beginning
--   writes    job_result. Those of a workflow go with it, because its steps may still be read;
--             those of jobs that belong to no playbook go by the same clock
--   An execution's id is that of its first job: one that an old result may belong to has a lower id, and is either long or not swept yet.
create or replace function penstock.results_forget(
  p_before timestamptz, p_after bigint, p_limit integer, out gone integer, out after bigint)
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_old bigint[];
  v_last bigint;
  v_kept bigint[];
begin
  select coalesce(array_agg(r.job_id) filter (where r.created_at < p_before), '{}'),
         case when count(*) = p_limit and bool_or(r.created_at < p_before) then max(r.job_id) else 0 end
    into v_old, after
    from (select r.job_id, r.created_at from penstock.job_result r where r.job_id > p_after order by r.job_id limit p_limit) r;
  gone := 0;
  if v_old = '{}' then
    return;
  end if;
  v_last := (select max(o) from unnest(v_old) o);
  v_kept := array(
    select s.job_id from penstock.job_workflow w
     -- offset 0: the steps of each are looked up by its id
     cross join lateral (select t.job_id, t.decider from penstock.job_step t where t.execution_id = w.execution_id offset 0) t
     cross join lateral (values (t.job_id), (t.decider)) s(job_id)
     where w.execution_id <= v_last and s.job_id = any (v_old));
  delete from penstock.job_result r where r.job_id = any (array(select o from unnest(v_old) o except select k from unnest(v_kept) k));
  get diagnostics gone = row_count;
end
$$;
