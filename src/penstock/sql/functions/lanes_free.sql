-- lanes_free: of these lanes, those that have no head, and whose next head is this transaction's to name.
--   p_lanes  distinct lanes
--   returns  free lanes. A lane that could not be locked is noted in lane_check instead: it may lose its head to
--            a transaction that does not see what this one writes
--   locks    advisory, per lane, without waiting; then looks in a NEW statement
create or replace function penstock.lanes_free(p_lanes text[]) returns text[]
language plpgsql set search_path = pg_catalog as $$
declare
  v_locked text[] := penstock.lanes_locked(p_lanes);
begin
  insert into penstock.lane_check (lane)
  select l.lane from unnest(p_lanes) l(lane) where l.lane <> all (v_locked);
  return penstock.lanes_headless(v_locked);
end
$$;
