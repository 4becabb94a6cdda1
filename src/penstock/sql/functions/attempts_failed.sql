-- attempts_failed: attempts of held jobs have ended badly: try again later, or bury them.
--   p_job_ids, p_tokens  pairs; those that are not held under that token, or are being cancelled, are left alone
--   p_errors             per job; {"permanent": true} buries it at once
--   p_reason             failed or lease_expired; a lease that expired makes the job suspect: it is then started alone
--   p_rules              only jobs held under these rules; null for all
--   returns              per job that failed: the ordinal of its pair, and what it became
--   writes               job_queue, job_outcome, job_dead_letter; frees the lanes of buried jobs
--   locks                job_workflow rows by id, job_queue rows by job_id
create or replace function penstock.attempts_failed(
  p_job_ids bigint[], p_tokens bigint[], p_errors jsonb[], p_reason text, p_rules bigint[])
returns table (ordinal bigint, next_status penstock.job_status)
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  v_ordinals bigint[];
  v_held bigint[];
  v_errors jsonb[];
  v_dead bigint[];
begin
  perform penstock.workflows_locked(p_job_ids);
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  select array_agg(h.ordinality), array_agg(h.job_id), array_agg(penstock.error_bounded(h.error)),
         array_agg(h.job_id) filter (where h.attempt >= h.max_attempts or h.error @> '{"permanent": true}')
    into v_ordinals, v_held, v_errors, v_dead
    from (select q.job_id, q.attempt, x.ordinality, x.error,
                 coalesce(q.max_attempts, penstock.config_for_kind('queue.retry.max_attempts', q.job_kind, 5)) as max_attempts
            from penstock.job_queue q
            join (select distinct on (u.job_id, u.token) u.*
                    from unnest(p_job_ids, p_tokens, p_errors) with ordinality u(job_id, token, error, ordinality)
                   order by u.job_id, u.token, u.ordinality) x on x.job_id = q.job_id and x.token = q.lease_token
           where q.job_id = any (p_job_ids) and q.status in ('leased', 'running') and not q.cancel_requested
             and (p_rules is null or q.rule = any (p_rules))
           order by q.job_id for update of q) h;
  insert into penstock.job_outcome (
    job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status, reason, error)
  select q.job_id, clock_timestamp(), q.lease_token, q.enqueued_at, q.started_at, q.leased_by, q.attempt,
         case when q.job_id = any (v_dead) then 'dead_lettered'::penstock.job_status else 'retrying' end, p_reason, x.error
    from penstock.job_queue q join unnest(v_held, v_errors) x(job_id, error) on x.job_id = q.job_id
   where q.job_id = any (v_held);
  update penstock.job_queue q
     set status = 'retrying', process_after = clock_timestamp() + penstock.retry_delay_ms(q.attempt, q.step_id) * interval '1 millisecond',
         reaped = q.reaped + (p_reason = 'lease_expired')::integer,
         lease_token = null, lease_until = null, leased_by = null, started_at = null, rule = null
   where q.job_id = any (v_held) and (v_dead is null or q.job_id <> all (v_dead));
  perform penstock.steps_hold(v_held);
  if v_dead is not null then
    perform penstock.jobs_bury(v_dead, p_reason);
  end if;
  return query select h.ordinal, case when h.job_id = any (v_dead) then 'dead_lettered'::penstock.job_status else 'retrying' end
                 from unnest(v_ordinals, v_held) h(ordinal, job_id);
end
$$;
