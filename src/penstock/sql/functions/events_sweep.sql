-- events_sweep: forget what nobody needs any more, a little at a time: ticks of over two days ago that every reader is past, notes of
-- dry runs, duplicates and passed-over events of over 30 days ago, counts of over a week ago.
--   A route worker whose gate has been closed for that long does not hold ticks: it goes on with the oldest that is kept.
--   returns  how many rows
--   writes   outbox_tick, event_cursor, consumer_dispatch, sql_event_route_note, iu_route_attempt, event_broadcast
create or replace function penstock.events_sweep(p_limit integer default 1000) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_kept bigint := (select min(t.tick_id) from penstock.outbox_tick t where t.ticked_at > now() - interval '2 days');
  v_rows integer;
  v_sum integer := 0;
begin
  update penstock.event_cursor c set tick_id = v_kept, goal_tick_id = null, page_tx = null, page_seq = null
    from penstock.v_event_cursor v
   where v.cursor_name = c.cursor_name and not v.is_live and c.cursor_name like 'route:%' and c.tick_id < v_kept;
  delete from penstock.outbox_tick t
   where t.tick_id in (select o.tick_id from penstock.outbox_tick o
                        where o.tick_id < least(v_kept, (select min(c.tick_id) from penstock.event_cursor c))
                        order by o.tick_id limit p_limit);
  get diagnostics v_rows = row_count;
  v_sum := v_sum + v_rows;
  delete from penstock.consumer_dispatch d
   where d.ctid in (select o.ctid from penstock.consumer_dispatch o where o.dispatched_at < now() - interval '30 days' limit p_limit);
  get diagnostics v_rows = row_count;
  v_sum := v_sum + v_rows;
  delete from penstock.sql_event_route_note d
   where d.ctid in (select o.ctid from penstock.sql_event_route_note o where o.noted_at < now() - interval '30 days' limit p_limit);
  get diagnostics v_rows = row_count;
  v_sum := v_sum + v_rows;
  delete from penstock.iu_route_attempt d
   where d.attempt_id in (select o.attempt_id from penstock.iu_route_attempt o where o.attempted_at < now() - interval '30 days'
                             and o.status in ('skipped', 'disabled') order by o.attempted_at limit p_limit);
  get diagnostics v_rows = row_count;
  delete from penstock.event_broadcast b where b.hour < now() - interval '7 days';
  return v_sum + v_rows;
end
$$;
