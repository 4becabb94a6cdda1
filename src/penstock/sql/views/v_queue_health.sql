-- v_queue_health: is the queue well? One row per thing to look at; state is ok, warn or alert. Reads heads and bounded
-- indexes, never a count over history.
create or replace view penstock.v_queue_health as
select 'tick' as part, case when max(t.ran_at) > now() - interval '1 minute' then 'ok' else 'alert' end as state,
       null::bigint as value, max(t.ran_at) as since, 'when the last tick ran' as detail
  from penstock.queue_tick_part t
union all
select 'tick:' || t.part, case when t.failed_since is null then 'ok' else 'alert' end, null, t.failed_since,
       coalesce(t.report ->> 'error', t.report ->> 'did') from penstock.queue_tick_part t
union all
select 'workers:' || x.executor_id,
       case when x.silent > 0 then 'alert' when x.living = 0 then 'warn' else 'ok' end, x.living, x.last_beat_at,
       format('%s living, %s silent', x.living, x.silent)
  from penstock.v_executor_subscription_health x where x.registered and x.any_enabled
union all
select 'leases_overdue', case when count(*) > 0 then 'alert' else 'ok' end, count(*), min(l.lease_until),
       'leases that ended over a minute ago and were not taken back'
  from (select q.lease_until from penstock.job_queue q
         where q.status in ('leased', 'running') and q.lease_until < now() - interval '1 minute' limit 1000) l
union all
select 'due_overdue', case when count(*) > 0 then 'alert' else 'ok' end, count(*), min(d.process_after),
       'scheduled or retrying jobs over a minute late'
  from (select q.process_after from penstock.job_queue q
         where q.status in ('scheduled', 'retrying') and q.process_after < now() - interval '1 minute'
         order by q.process_after limit 1000) d
union all
select 'lanes_unsettled', case when count(*) > 0 then 'warn' else 'ok' end, count(*), null, 'lanes that wait for a look'
  from (select from penstock.lane_check limit 1000) l
union all
select 'unserved:' || b.job_kind, 'warn', b.ready, b.oldest_enqueued_at, b.reason
  from penstock.v_job_queue_backlog b where b.reason is not null
union all
select 'dead_letters', case when count(*) > 0 then 'warn' else 'ok' end, count(*), min(d.dead_at), 'open dead letters, up to 1,000'
  from (select o.dead_at from penstock.v_job_queue_dead_letter_open o limit 1000) d
union all
select 'dead_letters:ingest', case when count(*) > 0 then 'warn' else 'ok' end, count(*), min(d.dead_at),
       'open dead letters of messages, up to 1,000'
  from (select o.dead_at from penstock.ingest_dead_letter o where o.resolved_at is null limit 1000) d
union all
select 'dead_letters:event', case when count(*) > 0 then 'warn' else 'ok' end, count(*), min(d.dead_at),
       'open dead letters of events, up to 1,000'
  from (select o.dead_at from penstock.consumer_dead_letter o where o.resolved_at is null limit 1000) d
union all
select 'dead_letters:route', case when count(*) > 0 then 'warn' else 'ok' end, count(*), min(d.dead_at),
       'open dead letters of outbound routes, up to 1,000'
  from (select o.dead_at from penstock.iu_route_dead_letter o where o.resolved_at is null limit 1000) d
union all
select 'cursor:' || c.cursor_name, case when c.is_stalled then 'alert' when c.is_lagging then 'warn' else 'ok' end, null,
       case when c.is_lagging and not c.is_stalled then c.oldest_unread_at else c.moved_at end,
       case when c.is_stalled then 'stands still, and there is something to read'
            when c.is_lagging then 'lags: since when the oldest that it has not read is there' else 'when it last moved' end
  from penstock.v_event_cursor c where c.is_live
union all
select 'subscription:' || s.path, 'alert', r.backlog, case when u.is_unattended then u.since else r.backlog_since end,
       case when u.is_unattended then 'unattended: it is ACTIVE, and no runtime holds it'
            else 'stalled: its source has a backlog, and nothing is committed' end
  from penstock.subscription s join penstock.subscription_runtime r using (path)
  join penstock.catalog c on c.path = s.path and c.version = s.version
 cross join lateral (select greatest(r.lease_until, r.released_at, s.moved_at) as since,
                            coalesce(r.unattended_at > greatest(r.lease_until, r.released_at, s.moved_at), false)
                              and coalesce(c.content #>> '{spec,activation}', 'continuous') = 'continuous' as is_unattended) u
 where s.state = 'ACTIVE' and (r.is_stalled or u.is_unattended)
union all
select 'route:' || r.route_code, 'alert', null, null,
       case penstock.sql_route_state(r) when 'table_missing' then 'its table is gone'
         when 'renamed' then 'its table has another name now, and its events have that: define the route again'
         when 'not_applied' then 'its trigger is not there, or off: penstock route enable it again'
         else 'broken: a column it names is gone, and null in its events' end
  from penstock.iu_sql_event_route r
 where r.enabled and penstock.sql_route_state(r) in ('table_missing', 'renamed', 'not_applied', 'broken')
union all
select 'schedule:' || s.schedule_id, 'alert', null, s.last_run_at, s.last_error
  from penstock.schedule s where s.enabled and s.last_error is not null;
