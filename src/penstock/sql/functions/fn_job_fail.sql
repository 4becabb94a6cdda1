-- fn_job_fail: these attempts failed. Fenced: only the holder of the current token is believed.
--   p_job_ids, p_tokens  the jobs and the tokens of their claims
--   p_errors             per job {"type", "message", …}; with "permanent": true the job is not tried again
--   returns              per job: accepted, and what it became (retrying, dead_lettered), or the reason of the refusal
--   writes               job_queue, job_outcome, job_dead_letter; a buried job's lane goes on
--   locks                job_queue rows by job_id
create or replace function penstock.fn_job_fail(p_job_ids bigint[], p_tokens bigint[], p_errors jsonb[] default null)
returns table (job_id bigint, accepted boolean, next_status text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_rules bigint[] := penstock.caller_rules();
  v_failed bigint[];
  v_became penstock.job_status[];
begin
  perform penstock.job_pairs_check(p_job_ids, p_tokens, p_errors);
  select array_agg(f.ordinal), array_agg(f.next_status) into v_failed, v_became
    from penstock.attempts_failed(p_job_ids, p_tokens, p_errors, 'failed', v_rules) f;
  return query
    select a.job_id, a.accepted, case when a.accepted then b.became::text else a.reason end
      from penstock.job_answers(p_job_ids, p_tokens, v_failed, v_rules) with ordinality a
      left join unnest(v_failed, v_became) b(ordinal, became) on b.ordinal = a.ordinality
     order by a.ordinality;
end
$$;
