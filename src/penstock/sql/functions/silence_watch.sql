-- silence_watch: a worker that stops beating becomes an event, once.
--   returns  how many fell silent now
--   writes   queue_heartbeat, event_outbox
--   locks    advisory, per incarnation without a row, and queue_heartbeat rows; waits for neither: a beat is under way
--   A crash of the server empties queue_heartbeat: an incarnation that holds leases and has no row counts as heard from
--   at the first tick that misses it.
create or replace function penstock.silence_watch() returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_limit interval := penstock.config_text('queue.heartbeat.stale_threshold_seconds', '60')::bigint * interval '1 second';
  v_silent record;
  v_count integer := 0;
begin
  with unheard as materialized (
    select distinct q.leased_by, s.executor_id, s.executor_kind
      from penstock.job_queue q
      join penstock.job_subscription s on s.subscription_id = q.rule
      join penstock.executor e on e.executor_id = s.executor_id and e.deregistered_at is null
     where q.status in ('leased', 'running')
       and not exists (select from penstock.queue_heartbeat h where h.executor_id = s.executor_id and h.incarnation = q.leased_by)
     limit 1000)
  insert into penstock.queue_heartbeat (incarnation, executor_id, executor_kind, heard)
  select u.leased_by, u.executor_id, u.executor_kind, false from unheard u
   where pg_try_advisory_xact_lock(hashtextextended('penstock.beat:' || u.executor_id || ':' || u.leased_by, 0))
  on conflict do nothing;
  -- what was known by its leases alone, and holds none any more, has nothing to be silent about
  delete from penstock.queue_heartbeat h
   where (h.executor_id, h.incarnation) in (
     select u.executor_id, u.incarnation from penstock.queue_heartbeat u
      where not u.heard and u.silent_since is null and not exists (
        select from penstock.job_subscription s join penstock.job_queue q on q.rule = s.subscription_id
         where s.executor_id = u.executor_id and q.leased_by = u.incarnation and q.status in ('leased', 'running'))
        for update of u skip locked);
  for v_silent in
    update penstock.queue_heartbeat h set silent_since = now()
     where (h.executor_id, h.incarnation) in (
       select s.executor_id, s.incarnation from penstock.queue_heartbeat s
        where s.silent_since is null and s.beat_at < now() - v_limit for update skip locked)
    returning h.incarnation, h.executor_id, h.beat_at
  loop
    perform penstock.event_insert(gen_random_uuid(), 'system', 'queue_worker_silent', 'alert', 'executor', v_silent.executor_id,
      jsonb_build_object('incarnation', v_silent.incarnation, 'last_beat_at', v_silent.beat_at), 'system:queue_tick', null, null, null);
    v_count := v_count + 1;
  end loop;
  delete from penstock.queue_heartbeat h
   where (h.executor_id, h.incarnation) in (
     select s.executor_id, s.incarnation from penstock.queue_heartbeat s
      where s.silent_since < now() - interval '1 day' for update skip locked);
  return v_count;
end
$$;
