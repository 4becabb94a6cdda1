-- loops_opened: the jobs of these loops' items, as many of them ready as may be under way together.
--   p_ends   ends of jobs; those with items open a loop
--   returns  what is to be started
--   writes   job_loop
create or replace function penstock.loops_opened(p_ends penstock.step_end[]) returns penstock.step_start[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into penstock.job_loop (execution_id, step_id, visit, items, remaining)
  select e.execution_id, e.step_id, e.visit, jsonb_array_length(e.items), jsonb_array_length(e.items)
    from unnest(p_ends) e where jsonb_array_length(e.items) > 0;
  return array(
    select row(e.execution_id, e.step_id, e.visit, i.ordinality, null, e.job_id, null,
               case when i.ordinality > s.max_in_flight then 'loop' end, i.value, null, false)::penstock.step_start
      from unnest(p_ends) with ordinality e
      join penstock.playbook_step s on s.step_id = e.step_id
     cross join lateral jsonb_array_elements(e.items) with ordinality i
     where e.items is not null
     order by e.ordinality, i.ordinality);
end
$$;
