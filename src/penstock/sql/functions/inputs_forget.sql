-- inputs_forget: forget what executions were started with that ended long ago as one job.
--   p_before  started before, and not alive or ended since: neither the job nor a replay of it
--   p_after   where the last pass ended
--   p_limit   how many are looked at, in the order of their ids
--   returns   gone: how many; after: where to go on, 0 from the beginning
--   writes    execution_input. Those of workflows go with them; one that an open dead letter would be replayed with stays
create or replace function penstock.inputs_forget(p_before timestamptz, p_after bigint, p_limit integer, out gone integer, out after bigint)
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_old bigint[];
begin
  select coalesce(array_agg(i.execution_id) filter (where i.created_at < p_before), '{}'),
         case when count(*) = p_limit and bool_or(i.created_at < p_before) then max(i.execution_id) else 0 end
    into v_old, after
    from (select i.execution_id, i.created_at from penstock.execution_input i
           where i.execution_id > p_after order by i.execution_id limit p_limit) i;
  -- offset 0: each is looked up by its id
  with recursive family as (
    select o as execution_id, o as job_id from unnest(v_old) o
    union
    select f.execution_id, d.replay_job_id
      from family f
     cross join lateral (select d.replay_job_id from penstock.job_dead_letter d
                          where d.job_id = f.job_id and d.replay_job_id is not null offset 0) d
  ), needed as (
    select f.execution_id
      from family f
     cross join lateral (select from penstock.job_queue q where q.job_id = f.job_id
                         union all
                         select from penstock.job_dead_letter d where d.job_id = f.job_id and d.resolved_at is null
                         union all
                         select from penstock.job_outcome o where o.job_id = f.job_id and o.finished_at >= p_before
                         union all
                         select from penstock.job_workflow w where w.execution_id = f.execution_id offset 0) n
  ), over as (
    delete from penstock.execution_input i
     where i.execution_id = any (array(select o from unnest(v_old) o except select n.execution_id from needed n)) returning 1)
  select count(*) into gone from over;
end
$$;
