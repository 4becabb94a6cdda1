-- events_sweep: forget what nobody needs any more, a little at a time: ticks of over two days ago at which no reader stands, notes of
-- dry runs, duplicates and passed-over events of over 30 days ago, counts of over a week ago.
--   A reader that stands still, also behind a closed gate, keeps its own tick: between that and any later one nothing is lost.
--   p_limit, p_ticks  at most so many rows of each, and so many ticks
--   returns  how many rows
--   locks    event_cursor, without waiting
--   writes   outbox_tick, consumer_dispatch, sql_event_route_note, iu_route_attempt, event_broadcast
create or replace function penstock.events_sweep(p_limit integer default 1000, p_ticks integer default 1000) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_rows integer;
  v_sum integer := 0;
begin
  -- one that reads meanwhile will stand where nobody sees it yet
  if (select count(*) from (select from penstock.event_cursor c for update skip locked) h)
     < (select count(*) from penstock.event_cursor c) then
    p_ticks := 0;
  end if;
  delete from penstock.outbox_tick t
   where t.tick_id in (select o.tick_id from penstock.outbox_tick o
                        where o.ticked_at < now() - interval '2 days' and o.tick_id < (select max(n.tick_id) from penstock.outbox_tick n)
                          and not exists (select from penstock.event_cursor c where o.tick_id in (c.tick_id, c.goal_tick_id))
                        order by o.tick_id limit p_ticks);
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
