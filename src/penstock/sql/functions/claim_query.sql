-- claim_query: the query that locks the best ready jobs of these runs, in claim order. Built for them, because only a union of
-- ordered scans can be merged without a sort, and planned when it is run, never before.
--   p_runs   the runs that have room, best head first; of 65 the last only bounds the others
--   p_limit  how many jobs at most
--   returns  a query of (job_id, number of its run). One ordered index scan per run, merged lazily; it locks job_queue
--            rows, skipping locked ones
create or replace function penstock.claim_query(p_executor_kind text, p_runs penstock.claim_run[], p_limit integer) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  with branch as (
    select r.rule, r.room, format(
      'select %s as run, q.job_id, q.priority from penstock.job_queue q where q.status = ''ready'' and q.executor = %L '
      'and q.pool = %L and q.job_kind = %L and q.event_domain = %L and q.priority >= %s '
      'order by q.priority desc, q.job_id limit %s',
      r.ordinality, p_executor_kind, r.pool, r.job_kind, r.event_domain, r.priority_floor,
      case when cardinality(p_runs) = 1 then least(r.room, p_limit) else coalesce(r.room, p_limit * 8) end) as query
      from unnest(p_runs) with ordinality r where r.ordinality <= 64
  ), ruled as (
    select case when room is null then string_agg('(' || query || ')', ' union all ')
                else format('(select * from (%s) r order by priority desc, job_id limit %s)',
                            string_agg('(' || query || ')', ' union all '), room) end as query
      from branch group by rule, room
  ), merged as (
    select string_agg(query, ' union all ') as query from ruled
  )
  select case when cardinality(p_runs) = 1
    then (select format('select b.job_id, b.run from (%s for update skip locked) b', b.query) from branch b)
    else format(
    'select l.job_id, c.run from (select * from (%s) u %s order by priority desc, job_id limit %s) c '
    'cross join lateral (select q.job_id from penstock.job_queue q '
    'where q.job_id = c.job_id and q.status = ''ready'' for update skip locked) l limit %s',
    m.query,
    case when p_runs[65].head_job_id is not null then format('where priority > %1$s or (priority = %1$s and job_id < %2$s)',
                                                   p_runs[65].head_priority, p_runs[65].head_job_id) else '' end,
    p_limit * 8, p_limit) end
    from merged m
$$;
