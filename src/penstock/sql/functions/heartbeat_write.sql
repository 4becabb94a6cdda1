-- heartbeat_write: this incarnation lives.
--   writes  queue_heartbeat, never waiting for another beat of the same incarnation
create or replace function penstock.heartbeat_write(
  p_executor penstock.executor, p_incarnation uuid, p_kinds text[] default null, p_pools text[] default null) returns void
language sql set search_path = pg_catalog as $$
  insert into penstock.queue_heartbeat as h (incarnation, executor_id, executor_kind, kinds, pools)
  values (p_incarnation, p_executor.executor_id, p_executor.executor_kind, p_kinds, p_pools)
  on conflict (incarnation) do update
    set beat_at = clock_timestamp(), silent_since = null, kinds = coalesce(p_kinds, h.kinds), pools = coalesce(p_pools, h.pools)
$$;
