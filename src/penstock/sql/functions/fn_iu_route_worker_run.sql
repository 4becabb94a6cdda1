-- fn_iu_route_worker_run: one pass of a route worker over the events that have come: for each event and route exactly one attempt
-- row, and a delivery job where the route is live. Attempts, jobs and cursor are one transaction.
--   returns  {"events", "dry_run", "disabled", "skipped", "failed", "queued", "more"}; {"skipped": why} while a gate is closed
--            or another run of this worker is under way
--   refuses  an unknown worker (PS011)
--   writes   event_cursor, iu_route_attempt, iu_route_dead_letter, job, job_queue, iu_route_worker_cursor
--   locks    the cursor, without waiting
create or replace function penstock.fn_iu_route_worker_run(
  p_worker_name text default 'iu_outbound_default', p_batch_limit integer default 1000) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
  v_worker penstock.iu_route_worker_cursor;
  v_cursor penstock.event_cursor;
  v_events penstock.event_outbox[];
  v_report jsonb;
begin
  if not penstock.fn_iu_core_routes_enabled() then
    return jsonb_build_object('skipped', 'iu_core.routes_enabled is not true');
  elsif not penstock.fn_iu_route_worker_enabled() then
    return jsonb_build_object('skipped', 'iu_core.route_worker_enabled is not true');
  elsif p_batch_limit is null or p_batch_limit not between 1 and 50000 then
    raise exception using errcode = 'PS011', message = format('limit %s is outside 1 … 50000', p_batch_limit);
  end if;
  select * into v_worker from penstock.iu_route_worker_cursor w where w.worker_name = p_worker_name;
  if v_worker.worker_name is null then
    raise exception using errcode = 'PS011', message = format('there is no route worker %L', p_worker_name);
  end if;
  v_cursor := penstock.cursor_taken('route:' || p_worker_name);
  if v_cursor.cursor_name is null then
    return jsonb_build_object('skipped', 'another run of this worker is under way');
  elsif v_cursor.goal_tick_id is null then
    return '{"events": 0, "more": false}'::jsonb;
  end if;
  v_events := penstock.cursor_page(v_cursor, p_batch_limit);
  v_report := jsonb_build_object('events', cardinality(v_events)) || penstock.routes_run_apart(v_worker, v_events);
  update penstock.iu_route_worker_cursor w
     set runs = w.runs + 1, events = w.events + cardinality(v_events), last_run_at = now(), last_run_summary = v_report
   where w.worker_name = p_worker_name;
  return v_report || jsonb_build_object('more', penstock.cursor_moved(v_cursor, v_events, p_batch_limit));
end
$$;
