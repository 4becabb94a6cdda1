-- fn_job_start: the handlers of these leased jobs begin now. No handler runs before this is committed.
--   returns  per job: accepted, or the reason why not
--   writes   job_queue
--   locks    job_queue rows by job_id
create or replace function penstock.fn_job_start(p_job_ids bigint[], p_tokens bigint[])
returns table (job_id bigint, accepted boolean, reason text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  v_rules bigint[] := penstock.caller_rules();
  v_done bigint[];
begin
  perform penstock.job_pairs_check(p_job_ids, p_tokens, null);
  with held as materialized (
    select q.job_id, x.ordinality
      from penstock.job_queue q join unnest(p_job_ids, p_tokens) with ordinality x(job_id, token, ordinality)
        on x.job_id = q.job_id and x.token = q.lease_token
     where q.job_id = any (p_job_ids) and q.status = 'leased'
       and not q.cancel_requested and (v_rules is null or q.rule = any (v_rules))
     order by q.job_id for update of q
  ), started as (
    update penstock.job_queue q set status = 'running', started_at = clock_timestamp()
      from held h
     where q.job_id = any (p_job_ids) and q.job_id = h.job_id
    returning h.ordinality)
  select array_agg(s.ordinality) into v_done from started s;
  return query select a.job_id, a.accepted, case a.reason when 'bad_result' then 'already_running' else a.reason end
    from penstock.job_answers(p_job_ids, p_tokens, v_done, v_rules) a;
end
$$;
