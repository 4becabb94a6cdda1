-- outbox_is_due: is a tick worth making? When numbers were taken since the last one; and every p_within for as long as
-- a transaction may be open that took its number before it.
create or replace function penstock.outbox_is_due(p_within interval) returns boolean
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select coalesce((
    select t.head <> penstock.outbox_head()
           or (not coalesce(pg_snapshot_xmin(t.snapshot) > t.head_tx, false) and t.ticked_at < clock_timestamp() - p_within)
      from penstock.outbox_tick t order by t.tick_id desc limit 1), true)
$$;
