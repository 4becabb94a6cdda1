-- outbox_tick_insert: what this moment's snapshot sees, as a tick. The caller holds the tick lock.
--   p_is_fresh  this transaction had no number when the tick began: then it gets one higher than any that has taken an
--               event number by now
--   returns     tick_id
--   writes      outbox_tick
create or replace function penstock.outbox_tick_insert(p_is_fresh boolean) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_base bigint;
  v_snapshot pg_snapshot;
  v_last penstock.outbox_tick;
  v_head bigint;
  v_tx xid8;
  v_tick bigint;
begin
  select b.base into v_base from penstock.outbox_base b;
  select * into v_last from penstock.outbox_tick t order by t.tick_id desc limit 1;
  -- in this order: an event that is visible has a number up to head, and one with such a number began before v_tx
  select pg_current_snapshot() into v_snapshot;
  v_head := penstock.outbox_head();
  v_tx := pg_current_xact_id();
  insert into penstock.outbox_tick (tx_id, snapshot, head, head_tx, system_identifier)
  select penstock.tx_shifted(v_tx, v_base), penstock.snapshot_shifted(v_snapshot, v_base, v_tx), v_head,
         case when v_last.head = v_head and v_last.head_tx is not null then v_last.head_tx
              when p_is_fresh then penstock.tx_shifted(v_tx, v_base) end,
         c.system_identifier
    from pg_control_system() c
  returning tick_id into v_tick;
  return v_tick;
end
$$;
