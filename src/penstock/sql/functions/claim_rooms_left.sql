-- claim_rooms_left: the same runs, with the room that is left once these have been picked from them.
--   p_picks  numbers of runs, one per job picked
--   returns  the runs in the same places; one whose rule is full has room 0
create or replace function penstock.claim_rooms_left(p_runs penstock.claim_run[], p_picks integer[]) returns penstock.claim_run[]
language sql immutable set search_path = pg_catalog, pg_temp as $$
  with picked as (
    select r.rule, count(*)::integer as jobs
      from unnest(p_picks) p(run) join unnest(p_runs) with ordinality r on r.ordinality = p.run group by r.rule)
  select case when exists (select from unnest(p_runs) r where r.room is not null) then array(
    select row(r.pool, r.job_kind, r.event_domain, r.head_priority, r.head_job_id, r.rule, r.priority_floor, r.max_parallel,
               r.room - coalesce(p.jobs, 0))::penstock.claim_run
      from unnest(p_runs) with ordinality r left join picked p on p.rule = r.rule order by r.ordinality) else p_runs end
$$;
