-- loops_advance: items of these loops that wait for room begin, as many as there is room for.
--   p_ends   ends of items, or items that wait; their loops are looked at
--   writes   job_queue; lanes as an enqueue does
create or replace function penstock.loops_advance(p_ends penstock.step_end[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_lanes text[];
begin
  with loops as (
    select distinct x.execution_id, x.step_id, x.visit, s.max_in_flight
      from unnest(p_ends) x join penstock.playbook_step s on s.step_id = x.step_id
     where x.item > 0 and s.max_in_flight is not null
  ), begun as (
    update penstock.job_queue q
       set hold = case when w.status = 'paused' then 'paused' end,
           status = case when w.status = 'paused' or q.lane is not null then 'blocked'::penstock.job_status else 'ready' end
      from loops l
      join penstock.job_workflow w on w.execution_id = l.execution_id
     cross join lateral (
       select n.job_id from penstock.job_queue n
        where n.hold = 'loop' and (n.execution_id, n.step_id, n.visit) = (l.execution_id, l.step_id, l.visit)
        order by n.item limit greatest(0, l.max_in_flight - (
          select count(*) from penstock.job_queue u
           where u.item > 0 and u.hold is distinct from 'loop'
             and (u.execution_id, u.step_id, u.visit) = (l.execution_id, l.step_id, l.visit)))) n
     where q.job_id = n.job_id
    returning q.lane, q.hold
  )
  select array_agg(distinct b.lane) filter (where b.lane is not null and b.hold is null) into v_lanes from begun b;
  if v_lanes is not null then
    perform penstock.lanes_settle(v_lanes);
  end if;
  perform penstock.wake(array['']);
end
$$;
