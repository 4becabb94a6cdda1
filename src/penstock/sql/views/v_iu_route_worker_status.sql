-- v_iu_route_worker_status: each route worker, the gates, and how far it has come.
create or replace view penstock.v_iu_route_worker_status as
select w.worker_name, w.event_domain, g.routes_enabled, g.worker_enabled, w.runs, w.events, w.last_run_at, w.last_run_summary,
       c.tick_id, c.moved_at, t.newest_tick_id - c.tick_id as ticks_behind
  from penstock.iu_route_worker_cursor w
  join penstock.event_cursor c on c.cursor_name = 'route:' || w.worker_name
 cross join (select max(t.tick_id) as newest_tick_id from penstock.outbox_tick t) t
 cross join (select coalesce(max(d.value) filter (where d.key = 'iu_core.routes_enabled'), 'false') = 'true' as routes_enabled,
                    coalesce(max(d.value) filter (where d.key = 'iu_core.route_worker_enabled'), 'false') = 'true' as worker_enabled
               from penstock.dot_config d) g;
