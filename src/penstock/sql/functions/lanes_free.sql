-- lanes_free: of these lanes, those that are empty, and whose first job is this transaction's to name.
--   p_lanes  distinct lanes
--   returns  empty lanes. A lane that could not be locked, or whose waiting jobs have lost their head, is noted in
--            lane_check instead: what this transaction adds to it goes behind them
--   writes   lane_check
--   locks    advisory, per lane, without waiting; then looks in a NEW statement
create or replace function penstock.lanes_free(p_lanes text[]) returns text[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_locked text[] := penstock.lanes_locked(p_lanes);
  v_headless text[] := penstock.lanes_headless(v_locked);
  v_waiting text[] := array(select n.lane from penstock.lanes_next(v_headless) n);
begin
  insert into penstock.lane_check (lane)
  select l.lane from unnest(p_lanes) l(lane) where l.lane <> all (v_locked) or l.lane = any (v_waiting);
  return array(select l.lane from unnest(v_headless) l(lane) where l.lane <> all (v_waiting));
end
$$;
