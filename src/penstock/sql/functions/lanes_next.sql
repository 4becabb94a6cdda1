-- lanes_next: of these lanes without a head, those in which a job waits, and the job that is next: the lowest of those
--             that wait and those that have fallen due, whether or not a tick has let them join yet.
--   p_lanes  distinct lanes
create or replace function penstock.lanes_next(p_lanes text[]) returns table (lane text, job_id bigint)
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select l.lane, n.job_id
    from unnest(p_lanes) l(lane)
   cross join lateral (
    select least(
      (select q.job_id from penstock.job_queue q where q.lane = l.lane and q.status = 'blocked' and q.hold is null
        order by q.job_id limit 1),
      -- offset 0: else the planner walks the lane in the order of job_id, over all that are not due
      (select min(d.job_id) from (
        select q.job_id from penstock.job_queue q
         where q.lane = l.lane and q.status = 'scheduled' and q.process_after <= (select clock_timestamp()) offset 0) d)
      )) n(job_id)
   where n.job_id is not null
$$;
