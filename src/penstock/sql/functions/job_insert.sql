-- job_insert: write checked requests as jobs; the one way into job and job_queue.
--   p_rows   requests in ordinal order, each with the job_id it gets if it is new
--   p_checked  the caller has checked them, and knows that they are new: their keys are names, not asked of once_key
--   returns  per request its job, and whether it was made now
--   writes   once_key, job, job_queue, lane_check
--   locks    once_key (by scope, key) for keyed requests: waits for an open transaction with the same key, for no other
create or replace function penstock.job_insert(p_rows penstock.job_request[], p_checked boolean default false)
returns table (ordinal integer, job_id bigint, created boolean)
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_rows penstock.job_request[] := p_rows;
  v_heads integer[] := '{}';
  v_is_keyed boolean;
  v_is_laned boolean;
  v_domains text[];
begin
  if not p_checked then
    perform penstock.job_request_check(v_rows);
  end if;
  perform penstock.partition_ensure('job', now());
  select bool_or(r.idempotency_key is not null), bool_or(r.lane is not null),
         array_agg(distinct coalesce(r.event_domain, '')) filter (where r.process_after is null or r.process_after <= now())
    into v_is_keyed, v_is_laned, v_domains
    from unnest(v_rows) r;
  if v_is_keyed and not p_checked then
    v_rows := penstock.job_request_once(v_rows);
  end if;
  if v_is_laned then
    v_heads := penstock.lane_heads(v_rows);
  end if;

  insert into penstock.job (
    job_id, enqueued_at, job_kind, executor, pool, lane, event_domain, priority, process_after, max_attempts,
    idempotency_key, source_ref, target_ref, payload_ref, safe_payload, correlation_id, causation_event_id,
    causation_depth, trace, actor, replay_of, playbook_ref, subscription)
  select r.job_id, now(), r.kind, r.executor, r.pool, r.lane, r.event_domain, r.priority, r.process_after,
         r.max_attempts, r.idempotency_key, r.source_ref, r.target_ref, r.payload_ref, r.safe_payload,
         r.correlation_id, r.causation_event_id,
         coalesce(r.causation_depth,
                  case when r.causation_event_id is not null then penstock.causation_depth(r.causation_event_id) end),
         r.trace, r.actor, r.replay_of, r.playbook_ref, r.subscription
    from unnest(v_rows) r;
  insert into penstock.job_queue (
    job_id, enqueued_at, process_after, status, priority, max_attempts, executor, job_kind, pool, event_domain, lane)
  select r.job_id, now(), r.process_after,
         case when r.process_after > now() then 'scheduled'::penstock.job_status
              when r.lane is null or r.ordinal = any (v_heads) then 'ready'
              else 'blocked' end,
         r.priority, r.max_attempts, r.executor, r.kind, r.pool, coalesce(r.event_domain, ''), r.lane
    from unnest(v_rows) r;
  perform penstock.wake(v_domains);

  if cardinality(v_rows) = cardinality(p_rows) then
    return query select r.ordinal, r.job_id, true from unnest(v_rows) r;
  else
    return query
      select r.ordinal, coalesce(n.job_id, k.ref::bigint), n.ordinal is not null
        from unnest(p_rows) r
        left join unnest(v_rows) n on n.ordinal = r.ordinal
        left join penstock.once_key k on n.ordinal is null and k.scope = 'job:' || r.kind and k.key = r.idempotency_key
       order by r.ordinal;
  end if;
end
$$;
