-- event_page: events that turned visible between two ticks, in the order of (tx_id, seq).
--   p_from, p_to   the snapshots of the ticks
--   p_tx, p_seq    the last one that was read of them; null at the beginning
--   p_limit        how many at most; fewer are all that is left
--   First those whose transaction was open at p_from: a long one costs a look more, not a scan from where it began.
create or replace function penstock.event_page(p_from pg_snapshot, p_to pg_snapshot, p_tx xid8, p_seq bigint, p_limit integer)
returns setof penstock.event_outbox
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  v_tx xid8 := coalesce(p_tx, '0');
  v_seq bigint := coalesce(p_seq, 0);
  v_count integer;
begin
  return query
    select e.* from pg_snapshot_xip(p_from) x
     cross join lateral (select o.* from penstock.event_outbox o
                          where o.tx_id = x and o.seq > case when x = v_tx then v_seq else 0 end order by o.seq limit p_limit) e
     where x >= v_tx and pg_visible_in_snapshot(x, p_to)
     order by e.tx_id, e.seq limit p_limit;
  get diagnostics v_count = row_count;
  return query
    select o.* from penstock.event_outbox o
     where (o.tx_id, o.seq) > (greatest(v_tx, pg_snapshot_xmax(p_from)), case when v_tx >= pg_snapshot_xmax(p_from) then v_seq else 0 end)
       and o.tx_id < pg_snapshot_xmax(p_to) and pg_visible_in_snapshot(o.tx_id, p_to)
     order by o.tx_id, o.seq limit p_limit - v_count;
end
$$;
