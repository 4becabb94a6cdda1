-- lanes_settle: give these lanes a head where they lack one, or note them for later.
--   p_lanes  distinct lanes
--   returns  how many jobs became ready
--   writes   job_queue, lane_check
--   locks    advisory, per lane, without waiting; then job_queue rows by job_id
create or replace function penstock.lanes_settle(p_lanes text[]) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_locked text[] := penstock.lanes_locked(p_lanes);
begin
  insert into penstock.lane_check (lane) select l.lane from unnest(p_lanes) l(lane) where l.lane <> all (v_locked);
  return penstock.lanes_promote(penstock.lanes_headless(v_locked));
end
$$;
