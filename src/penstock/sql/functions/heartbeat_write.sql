-- heartbeat_write: this incarnation lives.
--   writes   queue_heartbeat
--   locks    advisory, shared: tells silence_watch, which never waits for it, that a beat is under way; then its row
--   refuses  an incarnation of another executor with PS004: nobody keeps up the appearance of a dead neighbour
create or replace function penstock.heartbeat_write(
  p_executor penstock.executor, p_incarnation uuid, p_kinds text[] default null, p_pools text[] default null) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('penstock.beat:' || p_incarnation, 0));
  insert into penstock.queue_heartbeat as h (incarnation, executor_id, executor_kind, kinds, pools)
  values (p_incarnation, p_executor.executor_id, p_executor.executor_kind, p_kinds, p_pools)
  on conflict (incarnation) do update
    set beat_at = clock_timestamp(), silent_since = null, kinds = coalesce(p_kinds, h.kinds), pools = coalesce(p_pools, h.pools)
    where h.executor_id = excluded.executor_id;
  if not found then
    raise exception using errcode = 'PS004',
      message = format('incarnation %s is not one of executor %s', p_incarnation, p_executor.executor_id),
      hint = 'Every process makes an incarnation of its own when it starts.';
  end if;
end
$$;
