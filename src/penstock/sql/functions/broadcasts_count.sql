-- broadcasts_count: count the events that have come, and of them those nobody had subscribed to; then warn where these are many.
--   returns  how many were counted
--   writes   event_cursor, event_broadcast, event_outbox
--   locks    the cursor broadcasts, without waiting
create or replace function penstock.broadcasts_count(p_limit integer default 5000) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_cursor penstock.event_cursor := penstock.cursor_taken('broadcasts');
  v_events penstock.event_outbox[];
begin
  if v_cursor.goal_tick_id is null then
    return 0;
  end if;
  v_events := penstock.cursor_page(v_cursor, p_limit);
  -- what no rule looks at makes no difference: of many alike one is asked for
  with alike as materialized (
    select date_trunc('hour', e.created_at) as hour, e.event_domain, e.event_type, e.event_stream, e.subject_table,
           case when f.event_domain is not null then e.payload end as payload, count(*) as events
      from unnest(v_events) e
      left join (select distinct s.event_domain from penstock.event_subscription s where s.scope_filter <> '{}') f using (event_domain)
     group by 1, 2, 3, 4, 5, 6)
  insert into penstock.event_broadcast as b (hour, event_domain, event_type, events, broadcast)
  select a.hour, a.event_domain, a.event_type, sum(a.events),
         coalesce(sum(a.events) filter (where not exists (
           select from penstock.event_recipients(row(null, a.hour, null, null, a.event_domain, a.event_type, a.event_stream,
             a.subject_table, null, a.payload, null, null, null, null, null)::penstock.event_outbox) r
            where r.rule <> 'broadcast')), 0)
    from alike a group by 1, 2, 3 order by 1, 2, 3
  on conflict (hour, event_domain, event_type) do update
    set events = b.events + excluded.events, broadcast = b.broadcast + excluded.broadcast;
  perform penstock.cursor_moved(v_cursor, v_events, p_limit);
  perform penstock.broadcasts_warn();
  return cardinality(v_events);
end
$$;
