-- lanes_sweep: give a head to lanes that a race left without one.
--   p_limit  at most this many noted lanes
--   returns  how many jobs became ready
--   locks    lane_check rows, skipping locked ones; advisory per lane, without waiting; then job_queue rows by job_id.
--            A lane that is still somebody else's goes to the end of lane_check.
create or replace function penstock.lanes_sweep(p_limit integer) returns integer
language plpgsql set search_path = pg_catalog as $$
declare
  v_lanes text[];
  v_locked text[];
begin
  with noted as (
    select c.lane_check_id from penstock.lane_check c order by c.lane_check_id limit p_limit for update skip locked
  ), gone as (
    delete from penstock.lane_check c using noted n where c.lane_check_id = n.lane_check_id returning c.lane
  )
  select array_agg(distinct g.lane) into v_lanes from gone g;
  if v_lanes is null then
    return 0;
  end if;
  v_locked := penstock.lanes_locked(v_lanes);
  insert into penstock.lane_check (lane) select l.lane from unnest(v_lanes) l(lane) where l.lane <> all (v_locked);
  return penstock.lanes_promote(penstock.lanes_headless(v_locked));
end
$$;
