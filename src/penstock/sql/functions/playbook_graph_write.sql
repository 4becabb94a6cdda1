-- playbook_graph_write: keep the steps and arcs of a playbook's version, as jobs are asked for with them.
--   p_graph  {"steps": […], "arcs": […]} as `penstock catalog register` works it out; null for a playbook of one step
--   writes   playbook_step, playbook_arc, playbook_leaving
create or replace function penstock.playbook_graph_write(p_path text, p_version integer, p_content jsonb, p_graph jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_steps jsonb := p_graph -> 'steps';
begin
  if p_graph is null then
    if jsonb_array_length(p_content -> 'workflow') <> 1 then
      raise exception using errcode = 'PS011', message = format('%s has several steps, and no graph of them', p_path),
        hint = 'Register it with: penstock catalog register FILE';
    end if;
    v_steps := jsonb_build_array(jsonb_build_object(
      'step', p_content #> '{workflow,0,step}', 'job_kind', 'tool:' || (p_content #>> '{workflow,0,tool,kind}'),
      'executor', p_content #> '{workflow,0,executor}', 'pool', p_content #> '{workflow,0,pool}', 'lane', p_content #> '{workflow,0,lane}',
      'max_attempts', p_content #> '{workflow,0,retry,max_attempts}', 'is_start', true, 'is_single', true));
  end if;
  insert into penstock.playbook_step (
    path, version, step, ordinal, job_kind, executor, pool, lane, max_attempts, backoff, on_error, is_start, is_single, is_choice,
    is_loop, max_in_flight, waits_for, cycle)
  select p_path, p_version, s.step, s.ordinality, s.job_kind, coalesce(s.executor, 'PG_worker'), s.pool, s.lane, s.max_attempts, s.backoff,
         coalesce(s.on_error, 'fail'), coalesce(s.is_start, false), coalesce(s.is_single, false), coalesce(s.is_choice, false),
         coalesce(s.is_loop, false), s.max_in_flight, coalesce(s.waits_for, 0), s.cycle
    from rows from (jsonb_to_recordset(v_steps) as (
      step text, job_kind text, executor text, pool text, lane text, max_attempts smallint, backoff jsonb, on_error text,
      is_start boolean, is_single boolean, is_choice boolean, is_loop boolean, max_in_flight integer, waits_for smallint, cycle smallint))
      with ordinality s;
  insert into penstock.playbook_arc (
    from_step, to_step, ordinal, kind, is_inside, is_join, is_conditional, max_times, skips, skip_counts)
  select f.step_id, t.step_id, a.ordinal, a.kind, a.is_inside, a.is_join, a.is_conditional, a.max_times, k.skips, k.counts
    from jsonb_to_recordset(coalesce(p_graph -> 'arcs', '[]')) a(
      "from" text, "to" text, ordinal smallint, kind text, is_inside boolean, is_join boolean, is_conditional boolean, max_times integer,
      skips jsonb)
    join penstock.playbook_step f on f.path = p_path and f.version = p_version and f.step = a."from"
    join penstock.playbook_step t on t.path = p_path and t.version = p_version and t.step = a."to"
   cross join lateral (
    select coalesce(array_agg(j.step_id order by j.step_id), '{}'), coalesce(array_agg(e.value::smallint order by j.step_id), '{}')
      from jsonb_each_text(coalesce(a.skips, '{}')) e
      join penstock.playbook_step j on j.path = p_path and j.version = p_version and j.step = e.key) k(skips, counts);
  insert into penstock.playbook_leaving (step_id, arc_id)
  select s.step_id, a.arc_id
    from penstock.playbook_step s
    join penstock.playbook_step f on f.path = s.path and f.version = s.version and (f.step_id = s.step_id or f.cycle = s.cycle)
    join penstock.playbook_arc a on a.from_step = f.step_id and not a.is_inside
   where s.path = p_path and s.version = p_version;
  update penstock.playbook_step s set plain_next = t.step_id
    from jsonb_to_recordset(v_steps) g(step text, plain_next text)
    join penstock.playbook_step t on t.path = p_path and t.version = p_version and t.step = g.plain_next
   where s.path = p_path and s.version = p_version and s.step = g.step;
end
$$;
