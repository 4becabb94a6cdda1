-- drain_jobs: the live drains of a subscription, by the indexes of their lane, which is named like their kind.
--   p_kind  drain:<subscription_id>
create or replace function penstock.drain_jobs(p_kind text) returns table (job_id bigint, status penstock.job_status)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select q.job_id, q.status from penstock.job_queue q
   where q.lane = p_kind and q.status in ('ready', 'leased', 'running', 'awaiting', 'retrying') and q.job_kind = p_kind
  union all
  select q.job_id, q.status from penstock.job_queue q where q.lane = p_kind and q.status = 'blocked' and q.job_kind = p_kind
  union all
  select q.job_id, q.status from penstock.job_queue q where q.lane = p_kind and q.status = 'scheduled' and q.job_kind = p_kind
$$;
