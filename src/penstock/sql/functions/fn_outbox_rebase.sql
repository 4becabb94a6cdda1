-- fn_outbox_rebase: let a copy that was restored into another cluster go on with its event log.
--   From now on its numbers of transactions are above all that it brought along. What was not dispatched when the copy was
--   made is next, and so is what was emitted since.
--   returns  what is added to a number of this cluster; as it was when nothing had to be done
--   writes   outbox_base, outbox_tick, event_outbox (tx_id of what was emitted before this call)
--   locks    event_outbox, access exclusive: waits for all who have emitted and not committed
create or replace function penstock.fn_outbox_rebase(p_actor text default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_last penstock.outbox_tick;
  v_base bigint;
begin
  lock table penstock.event_outbox in access exclusive mode;
  select * into v_last from penstock.outbox_tick t order by t.tick_id desc limit 1;
  if v_last.system_identifier = (select c.system_identifier from pg_control_system() c) then
    return (select b.base from penstock.outbox_base b);
  end if;
  -- also above what a transaction may still emit that is open now
  select greatest(0, 1 + greatest(max(e.tx_id)::text::bigint, pg_snapshot_xmax(v_last.snapshot)::text::bigint)
                     - pg_snapshot_xmin(pg_current_snapshot())::text::bigint)
    into v_base from penstock.event_outbox e;
  update penstock.outbox_base b set base = v_base, rebased_at = now(), rebased_by = v_actor;
  execute format('alter table penstock.event_outbox alter tx_id set default penstock.tx_shifted(pg_current_xact_id(), %s)', v_base);
  -- a number the last tick had not seen, and a transaction it had: that is one of this cluster
  update penstock.event_outbox e set tx_id = penstock.tx_shifted(pg_current_xact_id(), v_base)
   where e.seq > v_last.head and pg_visible_in_snapshot(e.tx_id, v_last.snapshot);
  perform penstock.outbox_tick_insert(false);
  return v_base;
end
$$;
