-- lanes_sweep: give a head to lanes that a race left without one.
--   p_limit  at most this many noted lanes
--   returns  how many jobs became ready
--   locks    lane_check rows, skipping locked ones; then as lanes_settle. A lane that is still somebody else's goes to
--            the end of lane_check.
create or replace function penstock.lanes_sweep(p_limit integer) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_lanes text[];
begin
  with noted as (
    select c.lane_check_id from penstock.lane_check c order by c.lane_check_id limit p_limit for update skip locked
  ), gone as (
    delete from penstock.lane_check c using noted n where c.lane_check_id = n.lane_check_id returning c.lane
  )
  select array_agg(distinct g.lane) into v_lanes from gone g;
  return case when v_lanes is null then 0 else penstock.lanes_settle(v_lanes) end;
end
$$;
