-- consumers_failed: what cannot become a job is a dead letter with the whole event, or a note where the consumer says so.
--   writes  consumer_dead_letter, consumer_dispatch
create or replace function penstock.consumers_failed(p_plans penstock.consumer_plan[], p_events penstock.event_outbox[]) returns void
language sql volatile set search_path = pg_catalog, pg_temp as $$
  with failed as materialized (
    select p.consumer_id, p.fault, p.request, p.fail_closed and not p.dry_run as is_dead, e
      from unnest(p_plans) p join unnest(p_events) e on e.event_id = (p.request).causation_event_id where p.fault is not null),
  dead as (
    insert into penstock.consumer_dead_letter (consumer_id, event_id, reason, error, event_snapshot)
    select f.consumer_id, (f.request).causation_event_id, 'cannot_become_a_job', jsonb_build_object('message', f.fault), to_jsonb(f.e)
      from failed f where f.is_dead
    on conflict (consumer_id, event_id) where resolved_at is null do nothing)
  insert into penstock.consumer_dispatch (consumer_id, event_id, outcome, job_kind, idempotency_key, payload_ref, detail)
  select f.consumer_id, (f.request).causation_event_id, 'failed', (f.request).kind, (f.request).idempotency_key,
         (f.request).payload_ref, f.fault from failed f where not f.is_dead
$$;
