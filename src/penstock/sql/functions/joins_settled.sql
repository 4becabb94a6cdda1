-- joins_settled: arcs into joins are settled: joins that wait for no other start, or are skipped in turn.
--   p_counts  per join how many arcs were settled, and by which steps it was reached
--   returns   what is to be started
--   writes    job_join
create or replace function penstock.joins_settled(p_counts penstock.join_count[]) returns penstock.step_start[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_counts penstock.join_count[] := p_counts;
  v_full penstock.join_count[];
  v_starts penstock.step_start[] := '{}';
begin
  while cardinality(v_counts) > 0 loop
    with counted as (
      insert into penstock.job_join as j (execution_id, step_id, remaining, via)
      select c.execution_id, c.step_id, s.waits_for - c.arcs, c.via
        from unnest(v_counts) c join penstock.playbook_step s on s.step_id = c.step_id
      on conflict (execution_id, step_id) do update
        set remaining = j.remaining + excluded.remaining - (select s.waits_for from penstock.playbook_step s where s.step_id = j.step_id),
            via = j.via || excluded.via
      returning j.*
    )
    select array_agg(row(c.execution_id, c.step_id, 0, c.via)::penstock.join_count) into v_full from counted c where c.remaining = 0;
    v_starts := v_starts || array(
      select row(f.execution_id, f.step_id, 1, 0, null, null, f.via, null, null, null, false)::penstock.step_start
        from unnest(v_full) f where f.via <> '{}' order by f.execution_id, f.step_id);
    v_counts := array(
      select row(f.execution_id, u.step, sum(u.count), '{}')::penstock.join_count
        from unnest(v_full) f
        join penstock.playbook_leaving l on l.step_id = f.step_id
        join penstock.playbook_arc a on a.arc_id = l.arc_id
       cross join lateral unnest(a.skips, a.skip_counts) u(step, count)
       where f.via = '{}'
       group by f.execution_id, u.step);
  end loop;
  return v_starts;
end
$$;
