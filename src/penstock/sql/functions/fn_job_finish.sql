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
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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
  select f.done, f.lanes into v_done, v_lanes from penstock.jobs_finished(p_job_ids, p_tokens, v_bad, v_rules) f;
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
