-- fn_consumer_dispatch_run: make jobs of the events that have come, up to p_limit of them, and move the cursor; all or nothing.
--   p_cursor  whose place it is
--   returns   {"events", "jobs", "dry_run", "duplicates", "failed", "more"}; {"skipped": why} when switched off, or when
--             another run holds the cursor
--   writes    event_cursor, once_key, job, job_queue, consumer_dispatch, consumer_dead_letter
--   locks     the cursor, without waiting, then as consumers_dispatch, for at most 2 s each
create or replace function penstock.fn_consumer_dispatch_run(p_cursor text default 'consumers', p_limit integer default 1000) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
  v_cursor penstock.event_cursor;
  v_events penstock.event_outbox[];
  v_report jsonb;
begin
  if p_limit is null or p_limit not between 1 and 50000 then
    raise exception using errcode = 'PS011', message = format('limit %s is outside 1 … 50000', p_limit);
  end if;
  if p_cursor ~ '^(route:|broadcasts$|audit$)' then
    raise exception using errcode = 'PS011', message = format('cursor %s is not one of consumers', p_cursor);
  end if;
  if penstock.config_text('queue.consumer_dispatch.enabled', 'true') <> 'true' then
    return jsonb_build_object('skipped', 'queue.consumer_dispatch.enabled is not true');
  end if;
  v_cursor := penstock.cursor_taken(p_cursor);
  if v_cursor.cursor_name is null then
    return jsonb_build_object('skipped', 'another run holds the cursor');
  end if;
  if v_cursor.goal_tick_id is null then
    return '{"events": 0, "jobs": 0, "dry_run": 0, "duplicates": 0, "failed": 0, "more": false}'::jsonb;
  end if;
  v_events := penstock.cursor_page(v_cursor, p_limit);
  v_report := penstock.consumers_dispatch_apart(v_events);
  return jsonb_build_object('events', cardinality(v_events)) || v_report
         || jsonb_build_object('more', penstock.cursor_moved(v_cursor, v_events, p_limit));
end
$$;
