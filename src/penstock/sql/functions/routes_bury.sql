-- routes_bury: a dead letter with the whole event for each of these attempts that has failed; one that was there is open again.
--   writes  iu_route_dead_letter
create or replace function penstock.routes_bury(p_attempts bigint[], p_events penstock.event_outbox[], p_reason text) returns void
language sql volatile set search_path = pg_catalog, pg_temp as $$
  insert into penstock.iu_route_dead_letter as d (idempotency_key, worker_name, route_code, event_ref, reason, error, event_snapshot)
  select a.idempotency_key, a.worker_name, coalesce(a.route_code, 'none'), a.event_ref, p_reason, a.error, to_jsonb(e)
    from penstock.iu_route_attempt a join unnest(p_events) e on e.event_id = a.event_ref
   where a.attempt_id = any (p_attempts) and a.status = 'failed'
  on conflict (idempotency_key) do update
    set reason = excluded.reason, error = excluded.error, dead_at = now(), replay_attempt_id = null, resolved_at = null, resolved_by = null,
        resolution = null
$$;
