-- claim_query: the query that locks the best ready jobs of these runs, in claim order. Built for them, because only a union of
-- ordered scans can be merged without a sort, and planned when it is run, never before.
--   p_runs      the runs that have room, best head first; of 65 the last only bounds the others
--   p_limit     how many jobs at most
--   p_suspects  false: none that was reaped while it ran
--   p_below     false: jobs of the best head's priority, each run read from its head on: what was claimed before leaves dead
--               entries ahead of it, and a scan would walk over them. True: jobs below that priority
--   returns     a query of (job_id, number of its run), null when there can be none; one ordered index scan per run, merged
--               lazily. It locks job_queue rows, skipping locked ones
create or replace function penstock.claim_query(
  p_executor_kind text, p_runs penstock.claim_run[], p_limit integer, p_suspects boolean, p_below boolean) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  with term as (
    select p_runs[1].head_priority as top, p_runs[65] as bound
  ), branch as (
    select r.rule, r.room, format(
      'select %s as run, q.job_id, q.priority from penstock.job_queue q where q.status = ''ready'' and q.executor = %L '
      'and q.pool = %L and q.job_kind = %L and q.event_domain = %L and %s%s order by q.priority desc, q.job_id limit %s',
      r.ordinality, p_executor_kind, r.pool, r.job_kind, r.event_domain,
      case when p_below then format('q.priority < %s and q.priority >= %s', t.top, r.priority_floor)
           -- not '=': the planner would drop priority from the order, and read the primary key instead
           else format('q.priority <= %1$s and q.priority >= %1$s and q.job_id >= %2$s', t.top, r.head_job_id) end,
      case when p_suspects then '' else ' and q.reaped = 0' end, coalesce(r.room, p_limit * 8)) as query
      from term t, unnest(p_runs) with ordinality r
     where r.ordinality <= 64 and case when p_below then t.top > r.priority_floor else r.head_priority = t.top end
  ), ruled as (
    select case when room is null then string_agg('(' || query || ')', ' union all ')
                else format('(select * from (%s) r order by priority desc, job_id limit %s)',
                            string_agg('(' || query || ')', ' union all '), room) end as query
      from branch group by rule, room
  )
  select case (select count(*) from branch) when 0 then null when 1
    then (select format('select b.job_id, b.run from (%s for update skip locked) b limit %s', b.query, p_limit) from branch b)
    else (select format(
      'select l.job_id, c.run from (select * from (%s) u %s order by priority desc, job_id limit %s) c '
      'cross join lateral (select q.job_id from penstock.job_queue q '
      'where q.job_id = c.job_id and q.status = ''ready'' for update skip locked) l limit %s',
      string_agg(r.query, ' union all '),
      case when p_below and (t.bound).head_job_id is not null
           then format('where priority > %1$s or (priority = %1$s and job_id < %2$s)', (t.bound).head_priority, (t.bound).head_job_id)
           when (t.bound).head_priority = t.top then format('where job_id < %s', (t.bound).head_job_id) else '' end,
      p_limit * 8, p_limit) from ruled r) end
    from term t
$$;
