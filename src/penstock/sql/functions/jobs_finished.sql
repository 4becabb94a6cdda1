-- jobs_finished: end these held jobs, of no workflow, as succeeded.
--   p_job_ids, p_tokens  the jobs and the tokens they must be held by
--   p_without            ordinals to leave alone
--   p_rules              only jobs held under these rules; null for all
--   returns              the ordinals of those ended, and the lanes they held
--   writes               job_queue, job_outcome
--   locks                job_queue rows, by job_id as the plans go; nothing waits on it: only the holder's own report, sent twice,
--                        meets the same rows under the same tokens
--   Planned anew with every call, for these arrays.
create or replace function penstock.jobs_finished(
  p_job_ids bigint[], p_tokens bigint[], p_without bigint[], p_rules bigint[], out done bigint[], out lanes text[])
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  with gone as (
    -- job_id = any (…) says nothing the join does not; it is what keeps the plan from scanning the whole queue
    delete from penstock.job_queue q
     using (select * from unnest(p_job_ids, p_tokens) with ordinality u(job_id, token, ordinality) order by u.job_id) x
     where q.job_id = any (p_job_ids) and q.job_id = x.job_id and q.lease_token = x.token and q.status in ('leased', 'running')
       and q.execution_id is null and not q.cancel_requested
       and (p_rules is null or q.rule = any (p_rules)) and x.ordinality <> all (p_without)
    returning x.ordinality, q.job_id, q.lease_token, q.enqueued_at, q.started_at, q.leased_by, q.attempt, q.lane
  ), ended as (
    insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status)
    select d.job_id, clock_timestamp(), d.lease_token, d.enqueued_at, d.started_at, d.leased_by, d.attempt, 'succeeded'
      from gone d
  )
  select array_agg(d.ordinality), array_agg(d.lane) filter (where d.lane is not null) into done, lanes from gone d;
end
$$;
