-- claim_runs: the runs of ready jobs this executor may take from now, best head first.
--   p_executor         the executor; its kind scopes what it sees
--   p_kinds, p_pools   null: all
--   returns            the runs; one step in the index per run, whatever its length. Runs of other kinds and pools are stepped
--                      over together: kinds need no registration, and there may be many
--   reads              job_queue, job_subscription
create or replace function penstock.claim_runs(p_executor penstock.executor, p_kinds text[], p_pools text[])
returns penstock.claim_run[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return array(
  with recursive head as (
    (select q.pool, q.job_kind, q.event_domain, q.priority, q.job_id
       from penstock.job_queue q
      where q.status = 'ready' and q.executor = p_executor.executor_kind
      order by q.pool, q.job_kind, q.event_domain, q.priority desc, q.job_id limit 1)
    union all
    select n.* from head h
     cross join lateral (
       select case when h.pool <> all (p_pools) then (select min(p collate "C") from unnest(p_pools) p where p collate "C" > h.pool) end,
              case when h.job_kind <> all (p_kinds) then (select min(k collate "C") from unnest(p_kinds) k
                                                           where k collate "C" > h.job_kind) end) w(pool, job_kind)
     -- where to look on; E'\x01' makes of a text the next one there can be
     cross join lateral (values (
       case when h.pool <> all (p_pools) then w.pool
            when h.job_kind <> all (p_kinds) and w.job_kind is null then h.pool || E'\x01' else h.pool end,
       case when h.pool <> all (p_pools) then '' when h.job_kind <> all (p_kinds) then coalesce(w.job_kind, '') else h.job_kind end,
       case when h.pool <> all (p_pools) or h.job_kind <> all (p_kinds) then '' else h.event_domain || E'\x01' end
     )) f(pool, job_kind, event_domain)
     cross join lateral (
       select q.pool, q.job_kind, q.event_domain, q.priority, q.job_id
         from penstock.job_queue q
        where q.status = 'ready' and q.executor = p_executor.executor_kind
          and (q.pool, q.job_kind, q.event_domain) >= (f.pool, f.job_kind, f.event_domain)
        order by q.pool, q.job_kind, q.event_domain, q.priority desc, q.job_id limit 1) n
  )
  select row(h.pool, h.job_kind, h.event_domain, h.priority, h.job_id,
             s.subscription_id, s.priority_floor, s.max_parallel, null)::penstock.claim_run
    from head h
   cross join lateral (
     select * from penstock.job_subscription r
      where r.executor_id = p_executor.executor_id
        and (r.job_kind is null or r.job_kind = h.job_kind)
        and (r.event_domain is null or r.event_domain = h.event_domain)
      order by r.job_kind is null, r.event_domain is null limit 1) s
   where s.enabled and h.priority >= s.priority_floor
     and (p_kinds is null or h.job_kind = any (p_kinds))
     and (p_pools is null or h.pool = any (p_pools))
   order by h.priority desc, h.job_id);
end
$$;
