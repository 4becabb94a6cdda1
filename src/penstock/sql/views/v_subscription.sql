-- v_subscription: every subscription, who holds it, how far it has come, and what waits.
--   rate  messages per second since at most a minute ago; null when none came since
create or replace view penstock.v_subscription as
select s.path, s.state, s.version, c.content #>> '{spec,source}' as source, c.content #>> '{spec,mode}' as mode,
       coalesce(c.content #>> '{spec,activation}', 'continuous') as activation, s.moved_at,
       r.incarnation, r.lease_until, coalesce(r.lease_until > clock_timestamp(), false) as is_running, r.started_at,
       r.backlog, r.backlog_at, r.is_stalled, r.last_commit_at, r.received, r.executions, r.deduplicated, r.dead_lettered, r.replays,
       r.batches,
       case when r.last_commit_at > greatest(r.rate_since, clock_timestamp() - interval '1 minute')
            then round((r.received - r.rate_received) / greatest(extract(epoch from clock_timestamp() - r.rate_since), 1), 2)::float8
       end as rate,
       s.subscription_id, (select count(*) from (select from penstock.ingest_dead_letter d
                                          where d.subscription = s.path and d.resolved_at is null limit 10000) o) as dead_letters_open
  from penstock.subscription s
  join penstock.subscription_runtime r using (path)
  join penstock.catalog c on c.path = s.path and c.version = s.version;
