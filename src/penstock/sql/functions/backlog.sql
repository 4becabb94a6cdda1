-- backlog: what waits to be claimed, one row per executor kind, pool, job kind and domain.
--   returns  at most 1,000 rows; counts that stop at 10,001, the oldest, and why nobody takes it (null when somebody does)
--   reads    job_queue by one index step per row of the answer, then at most 10,001 entries each
create or replace function penstock.backlog()
returns table (executor text, pool text, job_kind text, event_domain text, ready integer, oldest_enqueued_at timestamptz, reason text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  with recursive head as (
    (select q.executor, q.pool, q.job_kind, q.event_domain, q.priority from penstock.job_queue q where q.status = 'ready'
      order by q.executor, q.pool, q.job_kind, q.event_domain, q.priority desc, q.job_id limit 1)
    union all
    select n.* from head h cross join lateral (
      select q.executor, q.pool, q.job_kind, q.event_domain, q.priority from penstock.job_queue q
       where q.status = 'ready' and (q.executor, q.pool, q.job_kind, q.event_domain) > (h.executor, h.pool, h.job_kind, h.event_domain)
       order by q.executor, q.pool, q.job_kind, q.event_domain, q.priority desc, q.job_id limit 1) n
  )
  select h.executor, h.pool, h.job_kind, nullif(h.event_domain, ''), c.ready, c.oldest,
         penstock.backlog_reason(h.executor, h.pool, h.job_kind, h.event_domain, h.priority)
    from (select * from head limit 1000) h
   cross join lateral (
     select count(*)::integer as ready, min(l.enqueued_at) as oldest
       from (select q.enqueued_at from penstock.job_queue q
              where q.status = 'ready' and q.executor = h.executor and q.pool = h.pool and q.job_kind = h.job_kind
                and q.event_domain = h.event_domain
              order by q.priority desc, q.job_id limit 10001) l) c
$$;
