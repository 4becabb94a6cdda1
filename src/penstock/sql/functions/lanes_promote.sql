-- lanes_promote: make the job that is next in each of these headless lanes ready.
--   p_lanes  distinct lanes without a head, which no other transaction gives one
--   returns  how many jobs became ready
--   locks    those job_queue rows, by job_id. A row somebody else holds or has just removed (a cancel) is not waited
--            for: its lane is noted in lane_check
create or replace function penstock.lanes_promote(p_lanes text[]) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_next bigint[];
  v_lanes text[];
  v_held bigint[];
  v_domains text[];
begin
  select array_agg(n.job_id), array_agg(n.lane) into v_next, v_lanes from penstock.lanes_next(p_lanes) n;
  if v_next is null then
    return 0;
  end if;
  v_held := array(select q.job_id from penstock.job_queue q
                   where q.job_id = any (v_next) and q.status in ('blocked', 'scheduled') and q.hold is null
                   order by q.job_id for update skip locked);
  with promoted as (
    update penstock.job_queue q set status = 'ready' where q.job_id = any (v_held) returning q.event_domain)
  select array_agg(p.event_domain) into v_domains from promoted p;
  insert into penstock.lane_check (lane)
  select n.lane from unnest(v_next, v_lanes) n(job_id, lane) where n.job_id <> all (v_held);
  perform penstock.wake(v_domains);
  return cardinality(v_held);
end
$$;
