-- fn_job_finish: these jobs are done. Fenced: only the holder of the current token is believed.
--   p_job_ids, p_tokens  the jobs and the tokens of their claims
--   p_results            per job, null for none; at most queue.result.max_bytes
--   p_next               per job of a playbook of several steps, where its step goes on: {"next": [steps]}, {"items": [values]} of
--                        a loop, {"skipped": true}; null where no condition has to be looked at. A bad one refuses the finish whole
--   returns              per job: accepted, or the reason why not; the others are accepted all the same
--   writes               job_queue, job_outcome, job_result; a lane's next job becomes ready; the steps that come after
--   locks                job_workflow rows by id, job_queue rows by job_id
create or replace function penstock.fn_job_finish(
  p_job_ids bigint[], p_tokens bigint[], p_results jsonb[] default null, p_next jsonb[] default null)
returns table (job_id bigint, accepted boolean, reason text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_rules bigint[] := penstock.caller_rules();
  v_bad bigint[] := penstock.job_results_refused(p_results);
  v_next bigint[];
  v_done bigint[];
  v_lanes text[];
begin
  perform penstock.job_pairs_check(p_job_ids, p_tokens, p_results);
  perform penstock.job_pairs_check(p_job_ids, p_tokens, p_next);
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  if p_next is not null then
    select f.done, f.bad, f.lanes into v_done, v_next, v_lanes
      from penstock.steps_finished(p_job_ids, p_tokens, p_next, v_bad, v_rules) f;
  end if;
  if coalesce(cardinality(v_done), 0) < cardinality(p_job_ids) then
    select v_done || f.done, v_lanes || f.lanes into v_done, v_lanes 
      from penstock.jobs_finished(p_job_ids, p_tokens, v_bad || v_next, v_rules) f;
  end if;
  if p_next is null and coalesce(cardinality(v_done), 0) < cardinality(p_job_ids) and exists (
       select from penstock.job_queue q where q.job_id = any (p_job_ids) and q.execution_id is not null) then
    select v_done || f.done, f.bad, v_lanes || f.lanes into v_done, v_next, v_lanes
      from penstock.steps_finished(p_job_ids, p_tokens, null, v_bad, v_rules) f;
  end if;
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
    select a.job_id, a.accepted, case when a.reason = 'bad_result' and a.ordinality = any (v_next) then 'bad_next' else a.reason end
      from penstock.job_answers(p_job_ids, p_tokens, v_done, v_rules) with ordinality a
     order by a.ordinality;
end
$$;
