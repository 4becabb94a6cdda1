-- heartbeat_write: this incarnation lives.
--   writes   queue_heartbeat
--   locks    advisory, shared: tells silence_watch, which never waits for it, that a beat is under way; then its row
--   An incarnation belongs to its executor: the same one under another executor is another row, and keeps nothing alive here
create or replace function penstock.heartbeat_write(
  p_executor penstock.executor, p_incarnation uuid, p_kinds text[] default null, p_pools text[] default null) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if p_incarnation is null then
    raise exception using errcode = 'PS011', message = 'a beat needs an incarnation: the one its process claims with';
  end if;
  perform pg_advisory_xact_lock_shared(hashtextextended('penstock.beat:' || p_executor.executor_id || ':' || p_incarnation, 0));
  insert into penstock.queue_heartbeat as h (incarnation, executor_id, executor_kind, kinds, pools)
  values (p_incarnation, p_executor.executor_id, p_executor.executor_kind, p_kinds, p_pools)
  on conflict (executor_id, incarnation) do update
    set beat_at = clock_timestamp(), silent_since = null, heard = true, kinds = coalesce(p_kinds, h.kinds),
        pools = coalesce(p_pools, h.pools);
end
$$;
