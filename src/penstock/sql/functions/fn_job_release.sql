-- fn_job_release: give jobs back unrun; the attempt does not count.
--   returns  per job: accepted, or the reason why not
--   writes   job_queue; job_outcome for those that were running: what was begun leaves a trace
--   locks    job_queue rows by job_id
create or replace function penstock.fn_job_release(p_job_ids bigint[], p_tokens bigint[])
returns table (job_id bigint, accepted boolean, reason text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  v_rules bigint[] := penstock.caller_rules();
  v_done bigint[];
  v_domains text[];
begin
  perform penstock.job_pairs_check(p_job_ids, p_tokens, null);
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  with held as materialized (
    select q.job_id, x.ordinality, q.enqueued_at, q.lease_token, q.leased_by, q.started_at, q.attempt
      from penstock.job_queue q join unnest(p_job_ids, p_tokens) with ordinality x(job_id, token, ordinality)
        on x.job_id = q.job_id and x.token = q.lease_token
     where q.job_id = any (p_job_ids) and q.status in ('leased', 'running')
       and not q.cancel_requested and (v_rules is null or q.rule = any (v_rules))
     order by q.job_id for update of q
  ), begun as (
    insert into penstock.job_outcome (
      job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status, reason)
    -- a pair may have been given twice
    select distinct on (h.job_id) h.job_id, clock_timestamp(), h.lease_token, h.enqueued_at, h.started_at, h.leased_by, h.attempt,
           'ready'::penstock.job_status, 'released'
      from held h where h.started_at is not null
  ), released as (
    update penstock.job_queue q
       set status = 'ready', attempt = q.attempt - 1, lease_token = null, lease_until = null, leased_by = null,
           started_at = null, rule = null
      from held h
     where q.job_id = any (p_job_ids) and q.job_id = h.job_id
    returning h.ordinality, q.event_domain)
  select array_agg(r.ordinality), array_agg(distinct r.event_domain) into v_done, v_domains from released r;
  perform penstock.wake(v_domains);
  return query select * from penstock.job_answers(p_job_ids, p_tokens, v_done, v_rules);
end
$$;
