-- events_audit: once an hour, hold the events of ticks of over an hour ago against what live consumers made of them: a job, a note, a
-- dead letter. One with none of these is missing, and becomes an event; it is dispatched again.
--   returns  {"events", "missing"}; null when it is not time
--   writes   event_cursor, event_outbox, and what a dispatch writes
create or replace function penstock.events_audit(p_age interval default '1 hour', p_limit integer default 20000) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_cursor penstock.event_cursor;
  v_events penstock.event_outbox[];
  v_missing penstock.event_outbox[];
  v_since timestamptz;
begin
  if penstock.config_text('queue.consumer_dispatch.enabled', 'true') <> 'true' then
    return null;
  end if;
  select * into v_cursor from penstock.event_cursor c where c.cursor_name = 'audit' for update skip locked;
  if v_cursor.goal_tick_id is null then
    select max(t.tick_id) into v_cursor.goal_tick_id from penstock.outbox_tick t
     where t.tick_id > v_cursor.tick_id and t.ticked_at < now() - p_age and v_cursor.moved_at < now() - p_age
       -- only what the dispatcher is past
       and t.tick_id <= (select d.tick_id from penstock.event_cursor d where d.cursor_name = 'consumers');
  end if;
  if v_cursor.goal_tick_id is null then
    return null;
  end if;
  v_events := penstock.cursor_page(v_cursor, p_limit);
  v_since := (select min(e.created_at) from unnest(v_events) e);
  v_missing := array(
    with made as materialized (
      select j.causation_event_id, j.actor from penstock.job j where j.enqueued_at >= v_since and j.causation_event_id is not null)
    select distinct e from unnest(v_events) e
      join penstock.v_consumer_registry_active c on c.event_domain = e.event_domain and c.event_type = e.event_type
     -- a transaction that began before the consumer was live may have been dispatched before
     where e.created_at > c.live_at + interval '1 minute'
       and not exists (select from made m where m.causation_event_id = e.event_id and m.actor = 'consumer:' || c.consumer_id)
       and not exists (select from penstock.consumer_dispatch d where d.consumer_id = c.consumer_id and d.event_id = e.event_id)
       and not exists (select from penstock.consumer_dead_letter d where d.consumer_id = c.consumer_id and d.event_id = e.event_id));
  perform penstock.cursor_moved(v_cursor, v_events, p_limit);
  if cardinality(v_missing) > 0 then
    perform penstock.event_insert(gen_random_uuid(), 'system', 'events_missed', 'alert', 'event_cursor', 'consumers',
      jsonb_build_object('events', cardinality(v_missing), 'first', (v_missing[1]).event_id), 'system:queue_tick', null, null, null);
    perform penstock.consumers_dispatch_apart(v_missing);
  end if;
  return jsonb_build_object('events', cardinality(v_events), 'missing', cardinality(v_missing));
end
$$;
