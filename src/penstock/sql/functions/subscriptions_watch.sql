-- subscriptions_watch: what the clock sees to: drains nobody runs, runtimes that have a backlog and commit nothing, and
--   subscriptions to be read all the time that no runtime holds.
--   returns  how many subscriptions it had something to say of
--   writes   subscription, subscription_runtime, execution_event, event_outbox
create or replace function penstock.subscriptions_watch() returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_limit interval := penstock.config_text('subscription.stall_s', '60')::bigint * interval '1 second';
  v_path text;
  v_stalled record;
  v_unattended record;
  v_count integer := 0;
begin
  for v_path in
    select s.path from penstock.subscription s join penstock.subscription_runtime r using (path)
     where s.state = 'DRAINING' and coalesce(r.lease_until, '-infinity') < clock_timestamp() for update of s, r skip locked
  loop
    perform penstock.subscription_moved(v_path, 'DEACTIVATED', 'system:queue_tick');
    v_count := v_count + 1;
  end loop;
  for v_stalled in
    update penstock.subscription_runtime r set is_stalled = true
     where r.path in (
       select x.path from penstock.subscription_runtime x join penstock.subscription s using (path)
        where s.state = 'ACTIVE' and not x.is_stalled and x.backlog_since < clock_timestamp() - v_limit
          and coalesce(x.last_commit_at, '-infinity') < clock_timestamp() - v_limit for update of x skip locked)
    returning r.path, r.backlog, r.backlog_since, r.last_commit_at
  loop
    perform penstock.subscription_event(v_stalled.path, 'stalled', 'system:queue_tick', jsonb_build_object(
      'backlog', v_stalled.backlog, 'since', v_stalled.backlog_since, 'last_commit_at', v_stalled.last_commit_at));
    v_count := v_count + 1;
  end loop;
  for v_unattended in
    update penstock.subscription_runtime r set unattended_at = clock_timestamp()
      from (select x.path, u.since
              from penstock.subscription_runtime x join penstock.subscription s using (path)
              join penstock.catalog c on c.path = s.path and c.version = s.version
             cross join lateral (select greatest(x.lease_until, x.released_at, s.moved_at)) u(since)
             where s.state = 'ACTIVE' and c.content #>> '{spec,mode}' = 'pull'
               and coalesce(c.content #>> '{spec,activation}', 'continuous') = 'continuous'
               and u.since < clock_timestamp() - v_limit and coalesce(x.unattended_at, '-infinity') < u.since
               for update of x skip locked) n
     where r.path = n.path
    returning r.path, n.since, r.backlog, r.last_commit_at
  loop
    perform penstock.subscription_event(v_unattended.path, 'unattended', 'system:queue_tick', jsonb_build_object(
      'since', v_unattended.since, 'backlog', v_unattended.backlog, 'last_commit_at', v_unattended.last_commit_at));
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;
