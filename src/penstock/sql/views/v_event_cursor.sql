-- v_event_cursor: the readers of the event log, and whether one stands still, for queue.cursor.stall_s with something to read, or
-- lags: what it has not read is older than queue.cursor.lag_s.
create or replace view penstock.v_event_cursor as
select c.cursor_name, c.moved_at, t.newest_tick_id > c.tick_id as has_more, l.is_live,
       l.is_live and t.newest_tick_id > c.tick_id and t.oldest_unread_at < now() - s.stall and c.moved_at < now() - s.stall as is_stalled,
       l.is_live and t.newest_tick_id > c.tick_id and t.oldest_unread_at < now() - s.lag as is_lagging, t.oldest_unread_at
  from penstock.event_cursor c
 cross join (select coalesce(max(d.value) filter (where d.key = 'queue.cursor.stall_s'), '60')::bigint * interval '1 second' as stall,
                    coalesce(max(d.value) filter (where d.key = 'queue.cursor.lag_s'), '300')::bigint * interval '1 second' as lag
               from penstock.dot_config d where d.key in ('queue.cursor.stall_s', 'queue.cursor.lag_s')) s
 cross join lateral (select (select max(n.tick_id) from penstock.outbox_tick n) as newest_tick_id,
                            (select n.ticked_at from penstock.outbox_tick n where n.tick_id > c.tick_id order by n.tick_id limit 1)
                              as oldest_unread_at) t
 cross join lateral (
   select not exists (select from penstock.dot_config d where d.value <> 'true'
                        and (d.key = 'queue.consumer_dispatch.enabled' and c.cursor_name = 'consumers'
                             or d.key in ('iu_core.routes_enabled', 'iu_core.route_worker_enabled') and c.cursor_name like 'route:%'))
     as is_live) l
 where c.cursor_name <> 'audit';
