-- promote_due: make scheduled and retrying jobs ready whose time has come.
--   p_limit  at most this many, the longest due first
--   returns  how many became ready or joined their lane
--   locks    job_queue rows, skipping locked ones
create or replace function penstock.promote_due(p_limit integer) returns integer
language plpgsql set search_path = pg_catalog as $$
declare
  v_due record;
  v_free text[] := '{}';
  v_heads bigint[] := '{}';
  v_domains text[];
begin
  select array_agg(d.job_id) as jobs, array_agg(distinct d.lane) filter (where d.lane is not null and d.status = 'scheduled') as lanes
    into v_due
    from (select q.job_id, q.lane, q.status from penstock.job_queue q
           where q.status in ('scheduled', 'retrying') and q.process_after <= now()
           order by q.process_after limit p_limit for update skip locked) d;
  if v_due.jobs is null then
    return 0;
  end if;
  if v_due.lanes is not null then
    v_free := penstock.lanes_free(v_due.lanes);
    v_heads := array(select min(q.job_id) from penstock.job_queue q
                      where q.job_id = any (v_due.jobs) and q.status = 'scheduled' and q.lane = any (v_free) group by q.lane);
  end if;
  with promoted as (
    update penstock.job_queue q
       set status = (case when q.status = 'retrying' or q.lane is null or q.job_id = any (v_heads) then 'ready'
                          else 'blocked' end)::penstock.job_status
     where q.job_id = any (v_due.jobs)
    returning q.event_domain)
  select array_agg(distinct p.event_domain) into v_domains from promoted p;
  perform penstock.wake(v_domains);
  return cardinality(v_due.jobs);
end
$$;
