-- lanes_advance: these lanes have just lost their head: name the next one.
--   p_lanes  lanes whose head this transaction deleted
--   locks    job_queue rows by job_id; advisory per lane that is empty, without waiting, because an open enqueue
--            that saw the old head may hold a blocked job no one sees yet: then the lane is noted in lane_check
create or replace function penstock.lanes_advance(p_lanes text[]) returns void
language plpgsql set search_path = pg_catalog as $$
declare
  v_lanes text[] := array(select distinct l.lane from unnest(p_lanes) l(lane));
  v_empty text[];
  v_locked text[];
begin
  perform penstock.lanes_promote(v_lanes);
  v_empty := penstock.lanes_headless(v_lanes);
  if cardinality(v_empty) = 0 then
    return;
  end if;
  v_locked := penstock.lanes_locked(v_empty);
  insert into penstock.lane_check (lane) select l.lane from unnest(v_empty) l(lane) where l.lane <> all (v_locked);
  perform penstock.lanes_promote(v_locked);
end
$$;
