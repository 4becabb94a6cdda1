-- jobs_promote: these scheduled and retrying jobs are due: ready, or behind others in their lane.
--   p_job_ids  locked job_queue rows
--   writes     job_queue, lane_check
create or replace function penstock.jobs_promote(p_job_ids bigint[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_lanes text[];
  v_domains text[];
begin
  with promoted as (
    update penstock.job_queue q
       set status = case when q.status = 'retrying' or q.lane is null then 'ready'::penstock.job_status else 'blocked' end
     where q.job_id = any (p_job_ids) and q.status in ('scheduled', 'retrying')
    returning q.lane, q.status, q.event_domain)
  select array_agg(distinct p.lane) filter (where p.status = 'blocked'), array_agg(distinct p.event_domain)
    into v_lanes, v_domains from promoted p;
  if v_lanes is not null then
    perform penstock.lanes_settle(v_lanes);
  end if;
  perform penstock.wake(v_domains);
end
$$;
