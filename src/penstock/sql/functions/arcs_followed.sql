-- arcs_followed: steps have ended: which arcs they take, which are skipped with that, and what starts therefore.
--   p_ends   ends of steps. done: next names the arcs; without it all are taken, or, where a condition has to be looked at, a job
--            is started that decides. failed and late take the arcs of that kind, skipped none
--   returns  what is to be started
--   writes   job_join
create or replace function penstock.arcs_followed(p_ends penstock.step_end[]) returns penstock.step_start[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_starts penstock.step_start[];
  v_counts penstock.join_count[];
begin
  with ended as materialized (
    select e.*, e.how = 'done' and e.next is null and exists (
             select from penstock.playbook_arc a where a.from_step = e.step_id and a.is_conditional) as is_open
      from unnest(p_ends) with ordinality e
  ), taken as materialized (
    select e.execution_id, e.ordinality, e.job_id, a.*
      from ended e
      join penstock.playbook_arc a on a.from_step = e.step_id
      join penstock.playbook_step t on t.step_id = a.to_step
     where not e.is_open
       and case e.how when 'done' then a.kind = 'next' and (e.next is null or t.step = any (e.next))
                      when 'failed' then a.kind = 'error' when 'late' then a.kind = 'late' else false end
  ), skipped as (
    select e.execution_id, a.skips, a.skip_counts
      from ended e
      join penstock.playbook_leaving l on l.step_id = e.step_id
      join penstock.playbook_arc a on a.arc_id = l.arc_id
     where not e.is_open
       and not exists (select from taken k where k.ordinality = e.ordinality and (k.is_inside or k.arc_id = a.arc_id))
  ), settled as (
    select k.execution_id, k.to_step, 1 as arcs, k.from_step as via from taken k where k.is_join
    union all
    select s.execution_id, u.step, u.count, null from skipped s cross join lateral unnest(s.skips, s.skip_counts) u(step, count)
  )
  select array(
           select row(e.execution_id, e.step_id, e.visit, -1, null, e.job_id, null, null, null, null, false)::penstock.step_start
             from ended e where e.is_open order by e.ordinality)
         || array(
           select row(k.execution_id, k.to_step,
                      case when k.is_inside then (select coalesce(max(j.visit), 0) + 1 from penstock.job_step j
                                                   where j.execution_id = k.execution_id and j.step_id = k.to_step) else 1 end,
                      0, null, k.job_id, array[k.from_step], null, null, null, false)::penstock.step_start
             from taken k where not k.is_join order by k.ordinality, k.ordinal),
         array(
           select row(s.execution_id, s.to_step, sum(s.arcs),
                      coalesce(array_agg(s.via) filter (where s.via is not null), '{}'))::penstock.join_count
             from settled s group by s.execution_id, s.to_step)
    into v_starts, v_counts;
  return v_starts || penstock.joins_settled(v_counts);
end
$$;
