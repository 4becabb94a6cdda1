-- lanes_locked: of these lanes, those this transaction now holds the advisory lock of. Never waits.
--   p_lanes  distinct lanes
--   returns  the lanes locked until the end of the transaction; at most 256 in one transaction, because the lock
--            table is shared by the whole server, and none above read committed, where the look that must follow
--            would use an old snapshot
create or replace function penstock.lanes_locked(p_lanes text[]) returns text[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_held integer := coalesce(nullif(current_setting('penstock.lane_locks', true), ''), '0')::integer;
  v_locked text[];
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    return '{}';
  end if;
  v_locked := array(
    select l.lane from (select lane from unnest(p_lanes) lane limit greatest(256 - v_held, 0)) l
     where pg_try_advisory_xact_lock(hashtextextended('penstock.lane:' || l.lane, 0)));
  perform set_config('penstock.lane_locks', (v_held + cardinality(v_locked))::text, true);
  return v_locked;
end
$$;
