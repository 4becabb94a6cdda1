-- lanes_headless: of these lanes, those in which no job is ready, leased, running, awaiting or retrying.
--   volatile on purpose: the look must use a snapshot newer than the lock taken before it
create or replace function penstock.lanes_headless(p_lanes text[]) returns text[]
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select array(
    select l.lane from unnest(p_lanes) l(lane)
     where not exists (select from penstock.job_queue q where q.lane = l.lane
                          and q.status in ('ready', 'leased', 'running', 'awaiting', 'retrying')))
$$;
