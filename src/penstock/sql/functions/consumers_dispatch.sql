-- consumers_dispatch: make of events what the consumers want of them: jobs, one for each kind and key; notes of dry runs and of
-- events whose job was there already; dead letters, or notes, of what cannot become one.
--   p_consumer  only this one; null: all that are enabled
--   returns     {"jobs", "dry_run", "duplicates", "failed"}: how many of each
--   writes      once_key, job, job_queue, consumer_dispatch, consumer_dead_letter, consumer_registry (rate_at)
--   locks       once_key (by scope, key), then consumer_registry rows with a rate
create or replace function penstock.consumers_dispatch(p_events penstock.event_outbox[], p_consumer text default null) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_expires timestamptz := now() + penstock.config_text('queue.once_key.ttl_s.job', '2592000')::bigint * interval '1 second';
  v_report jsonb;
begin
  perform penstock.partition_ensure('job', now());
  with planned as materialized (select * from penstock.consumer_plans(p_events, p_consumer)),
  first as materialized (
    select distinct on (p.job_kind collate "C", p.key collate "C") p.job_kind, p.key, p.job_id::text as ref
      from planned p where p.fault is null and not p.dry_run order by p.job_kind collate "C", p.key collate "C", p.job_id),
  taken as (
    insert into penstock.once_key as k (scope, key, ref, expires_at)
    select 'job:' || f.job_kind, f.key, f.ref, v_expires from first f
    on conflict (scope, key) do update set ref = excluded.ref, expires_at = excluded.expires_at where k.expires_at <= now()
    returning k.ref::bigint as job_id),
  paced as materialized (
    select t.job_id, p.consumer_id, step, greatest(c.rate_at, now()) + step
             * (row_number() over (partition by p.consumer_id order by t.job_id) - 1) as at
      from penstock.consumer_registry c
     cross join lateral (select interval '1 second' / c.rate_per_s::float8) s(step)
      join planned p on p.consumer_id = c.consumer_id join taken t on t.job_id = p.job_id where c.rate_per_s is not null),
  made as materialized (
    select p.*, r.at from taken t join planned p on p.job_id = t.job_id left join paced r on r.job_id = t.job_id),
  jobs as (
    insert into penstock.job (job_id, enqueued_at, job_kind, executor, pool, event_domain, priority, process_after, idempotency_key,
      source_ref, target_ref, payload_ref, safe_payload, correlation_id, causation_event_id, causation_depth, trace, actor)
    select m.job_id, now(), m.job_kind, m.executor, 'shared', m.event_domain, m.priority, m.at, m.key, 'event/' || m.event_id,
           m.subject_ref, m.payload_ref, m.safe_payload, m.correlation_id, m.event_id, m.depth, m.trace, m.actor from made m),
  queue as (
    insert into penstock.job_queue (job_id, enqueued_at, process_after, status, priority, executor, job_kind, pool, event_domain)
    select m.job_id, now(), m.at, case when m.at > now() then 'scheduled'::penstock.job_status else 'ready' end, m.priority, m.executor,
           m.job_kind, 'shared', m.event_domain from made m),
  rates as (
    update penstock.consumer_registry c set rate_at = l.at
      from (select r.consumer_id, max(r.at + r.step) as at from paced r group by r.consumer_id) l where c.consumer_id = l.consumer_id),
  noted as (
    insert into penstock.consumer_dispatch (consumer_id, event_id, outcome, job_kind, idempotency_key, payload_ref, job_id)
    select p.consumer_id, p.event_id, case when p.dry_run then 'dry_run' else 'duplicate' end, p.job_kind, p.key, p.payload_ref,
           case when p.dry_run then null when f.ref::bigint in (select t.job_id from taken t) then f.ref::bigint else k.ref::bigint end
      from planned p
      left join first f on f.job_kind = p.job_kind and f.key = p.key
      left join penstock.once_key k on not p.dry_run and k.scope = 'job:' || p.job_kind and k.key = p.key
     where p.fault is null and (p.dry_run or p.job_id not in (select t.job_id from taken t))),
  dead as (
    insert into penstock.consumer_dead_letter (consumer_id, event_id, reason, error, event_snapshot)
    select p.consumer_id, p.event_id, 'cannot_become_a_job', jsonb_build_object('message', p.fault), to_jsonb(e)
      from planned p join unnest(p_events) e on e.event_id = p.event_id where p.fault is not null and p.fail_closed and not p.dry_run
    on conflict (consumer_id, event_id) where resolved_at is null do nothing),
  failed as (
    insert into penstock.consumer_dispatch (consumer_id, event_id, outcome, job_kind, idempotency_key, payload_ref, detail)
    select p.consumer_id, p.event_id, 'failed', p.job_kind, p.key, p.payload_ref, p.fault
      from planned p where p.fault is not null and (p.dry_run or not p.fail_closed))
  select jsonb_build_object('jobs', m.n, 'dry_run', count(*) filter (where p.fault is null and p.dry_run),
           'duplicates', count(*) filter (where p.fault is null and not p.dry_run) - m.n,
           'failed', count(*) filter (where p.fault is not null))
    into v_report from (select count(*) from taken) m(n) left join planned p on true group by m.n;
  if (v_report ->> 'jobs')::bigint > 0 then
    perform penstock.wake(array(select distinct e.event_domain from unnest(p_events) e));
  end if;
  return v_report;
end
$$;
