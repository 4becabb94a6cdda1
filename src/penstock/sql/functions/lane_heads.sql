-- lane_heads: which of these requests may start their lane at once.
--   p_rows   requests; those that are not due yet join their lane later
--   returns  ordinals of the requests to write as ready: the first of each lane that is free
create or replace function penstock.lane_heads(p_rows penstock.job_request[]) returns integer[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_lanes text[] := array(select distinct r.lane from unnest(p_rows) r
                           where r.lane is not null and (r.process_after is null or r.process_after <= now()));
  v_free text[] := penstock.lanes_free(v_lanes);
begin
  return array(select min(r.ordinal) from unnest(p_rows) r
                where r.lane = any (v_free) and (r.process_after is null or r.process_after <= now())
                group by r.lane);
end
$$;
