-- fn_job_finish: these jobs are done. Fenced: only the holder of the current token is believed.
--   p_job_ids, p_tokens  the jobs and the tokens of their claims
--   p_results            per job, null for none; at most queue.result.max_bytes
--   p_next               steps to go on with; refused (bad_next) while the job belongs to no playbook
--   returns              per job: accepted, or the reason why not; the others are accepted all the same
--   writes               job_queue, job_outcome, job_result; a lane's next job becomes ready
--   locks                job_queue rows by job_id
create or replace function penstock.fn_job_finish(
  p_job_ids bigint[], p_tokens bigint[], p_results jsonb[] default null, p_next jsonb[] default null)
returns table (job_id bigint, accepted boolean, reason text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  v_rules bigint[] := penstock.caller_rules();
  v_bad bigint[] := penstock.job_results_refused(p_results, p_next);
  v_done bigint[];
  v_lanes text[];
begin
  perform penstock.job_pairs_check(p_job_ids, p_tokens, p_results);
  perform penstock.job_pairs_check(p_job_ids, p_tokens, p_next);
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  with done as (
    -- job_id = any (…) says nothing the join does not; it is what keeps the plan from scanning the whole queue
    delete from penstock.job_queue q
     using unnest(p_job_ids, p_tokens) with ordinality x(job_id, token, ordinality)
     where q.job_id = any (p_job_ids) and q.job_id = x.job_id and q.lease_token = x.token and q.status in ('leased', 'running')
       and not q.cancel_requested and (v_rules is null or q.rule = any (v_rules)) and x.ordinality <> all (v_bad)
    returning x.ordinality, q.job_id, q.lease_token, q.enqueued_at, q.started_at, q.leased_by, q.attempt, q.lane
  ), ended as (
    insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status)
    select d.job_id, clock_timestamp(), d.lease_token, d.enqueued_at, d.started_at, d.leased_by, d.attempt, 'succeeded'
      from done d
  )
  select array_agg(d.ordinality), array_agg(d.lane) filter (where d.lane is not null) into v_done, v_lanes from done d;
  if v_lanes is not null then
    perform penstock.lanes_advance(v_lanes);
  end if;
  if p_results is not null then
    insert into penstock.job_result (job_id, result)
    select x.job_id, x.result from unnest(v_done) d(ordinal)
      join unnest(p_job_ids, p_results) with ordinality x(job_id, result, ordinality) on x.ordinality = d.ordinal
     where x.result is not null;
  end if;
  if cardinality(v_done) = cardinality(p_job_ids) then
    return query select x, true, null::text from unnest(p_job_ids) x;
    return;
  end if;
  return query
    select a.job_id, a.accepted, case when a.reason = 'bad_result' and p_next[a.ordinality] is not null then 'bad_next' else a.reason end
      from penstock.job_answers(p_job_ids, p_tokens, v_done, v_rules) with ordinality a
     order by a.ordinality;
end
$$;
