-- claim_pick: lock the best ready jobs of several runs, in claim order.
--   p_runs   the runs that have room, best head first; of 65 the last only bounds the others
--   p_limit  how many jobs at most
--   returns  the jobs, each with the number of its run
--   locks    job_queue rows, skipping locked ones. One ordered index scan per run, merged lazily: the merge is a
--            query built for these runs, because only a union of ordered scans can be merged without a sort
create or replace function penstock.claim_pick(p_executor_kind text, p_runs penstock.claim_run[], p_limit integer)
returns table (job_id bigint, run integer)
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_last penstock.claim_run := p_runs[65];
  v_union text;
begin
  with branch as (
    select r.rule, r.room, format(
      '(select %s as run, q.job_id, q.priority from penstock.job_queue q where q.status = ''ready'' and q.executor = %L '
      'and q.pool = %L and q.job_kind = %L and q.event_domain = %L and q.priority >= %s '
      'order by q.priority desc, q.job_id limit %s)',
      r.ordinality, p_executor_kind, r.pool, r.job_kind, r.event_domain, r.priority_floor,
      coalesce(r.room, p_limit * 8)) as query
      from unnest(p_runs) with ordinality r where r.ordinality <= 64
  ), ruled as (
    select case when room is null then string_agg(query, ' union all ')
                else format('(select * from (%s) r order by priority desc, job_id limit %s)',
                            string_agg(query, ' union all '), room) end as query
      from branch group by rule, room
  )
  select string_agg(query, ' union all ') into v_union from ruled;
  return query execute format(
    'select l.job_id, c.run::integer from (select * from (%s) u %s order by priority desc, job_id limit %s) c '
    'cross join lateral (select q.job_id from penstock.job_queue q '
    'where q.job_id = c.job_id and q.status = ''ready'' for update skip locked) l limit %s',
    v_union,
    case when v_last.head_job_id is not null then format('where priority > %1$s or (priority = %1$s and job_id < %2$s)',
                                             v_last.head_priority, v_last.head_job_id) else '' end,
    p_limit * 8, p_limit);
end
$$;
