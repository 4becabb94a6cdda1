-- fn_job_release: give jobs back unrun, or begun and put off; the attempt does not count.
--   p_delays_ms  per job, how long it is to wait, at most a week; 0, and null for all: it is ready at once
--   returns  per job: accepted, or the reason why not
--   writes   job_queue; job_outcome for those that were running: what was begun leaves a trace
--   locks    job_queue rows by job_id
create or replace function penstock.fn_job_release(p_job_ids bigint[], p_tokens bigint[], p_delays_ms integer[] default null)
returns table (job_id bigint, accepted boolean, reason text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  v_rules bigint[] := penstock.caller_rules();
  v_done bigint[];
  v_domains text[];
begin
  perform penstock.job_pairs_check(p_job_ids, p_tokens, (select array_agg(to_jsonb(d)) from unnest(p_delays_ms) d));
  if exists (select from unnest(p_delays_ms) d where d is null or d not between 0 and 604800000) then
    raise exception using errcode = 'PS011', message = 'a job can be put off by 0 to 604800000 ms, a week';
  end if;
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  with held as materialized (
    select q.job_id, x.ordinality, q.enqueued_at, q.lease_token, q.leased_by, q.started_at, q.attempt,
           case when x.delay_ms > 0 then clock_timestamp() + x.delay_ms * interval '1 ms' end as until
      from penstock.job_queue q
      -- a pair may have been given twice
      join (select distinct on (u.job_id, u.token) u.*
              from unnest(p_job_ids, p_tokens, p_delays_ms) with ordinality u(job_id, token, delay_ms, ordinality)
             order by u.job_id, u.token, u.ordinality) x on x.job_id = q.job_id and x.token = q.lease_token
     where q.job_id = any (p_job_ids) and q.status in ('leased', 'running')
       and not q.cancel_requested and (v_rules is null or q.rule = any (v_rules))
     order by q.job_id for update of q
  ), begun as (
    insert into penstock.job_outcome (
      job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status, reason)
    select h.job_id, clock_timestamp(), h.lease_token, h.enqueued_at, h.started_at, h.leased_by, h.attempt,
           'ready'::penstock.job_status, case when h.until is null then 'released' else 'put_off' end
      from held h where h.started_at is not null
  ), released as (
    update penstock.job_queue q
       set status = case when h.until is null then 'ready'::penstock.job_status else 'retrying' end, attempt = q.attempt - 1,
           process_after = coalesce(h.until, q.process_after), lease_token = null, lease_until = null, leased_by = null,
           started_at = null, rule = null
      from held h
     where q.job_id = any (p_job_ids) and q.job_id = h.job_id
    returning h.ordinality, q.event_domain, h.until)
  select array_agg(r.ordinality), array_agg(distinct r.event_domain) filter (where r.until is null)
    into v_done, v_domains from released r;
  perform penstock.steps_hold(p_job_ids);
  if v_domains is not null then
    perform penstock.wake(v_domains);
  end if;
  return query select * from penstock.job_answers(p_job_ids, p_tokens, v_done, v_rules);
end
$$;
