-- fn_outbox_tick: store a snapshot, when events have come since the last one or may still turn visible.
--   p_force   whether they have or not
--   p_within  how long after the last tick another is made for those that may still turn visible
--   returns   tick_id; null when there is nothing to tick for
--   refuses   a copy restored into another cluster (PS024), and repeatable read and above (PS011): its snapshot is an old one
--   writes    outbox_tick
--   locks     an advisory lock of the session, within this call only: a transaction that ticks and stays open stops no other
--             ticker. Taken before the statement that looks, so that a higher tick_id never holds an older snapshot
create or replace function penstock.fn_outbox_tick(p_force boolean default false, p_within interval default '1 second') returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_is_fresh boolean := pg_current_xact_id_if_assigned() is null;
  v_lock bigint := hashtextextended('penstock.outbox_tick', 0);
  v_tick bigint;
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception using errcode = 'PS011', message = format('a tick cannot be made in a transaction that is %s',
      current_setting('transaction_isolation')), hint = 'Its snapshot is that of its first statement. Call it on its own.';
  end if;
  perform penstock.outbox_guard();
  if not p_force and not penstock.outbox_is_due(p_within) then
    return null;
  end if;
  begin
    perform pg_advisory_lock(v_lock);
    v_tick := penstock.outbox_tick_insert(v_is_fresh);
    perform pg_advisory_unlock(v_lock);
  exception when query_canceled or others then
    perform pg_advisory_unlock(v_lock);
    raise;
  end;
  return v_tick;
end
$$;
