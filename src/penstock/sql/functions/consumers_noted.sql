-- consumers_noted: keep what became no job because it was only tried, or because its job was there already.
--   p_made  the jobs that were made
--   writes  consumer_dispatch
create or replace function penstock.consumers_noted(p_plans penstock.consumer_plan[], p_made bigint[]) returns void
language sql volatile set search_path = pg_catalog, pg_temp as $$
  insert into penstock.consumer_dispatch (consumer_id, event_id, outcome, job_kind, idempotency_key, payload_ref, job_id)
  select p.consumer_id, (p.request).causation_event_id, case when p.dry_run then 'dry_run' else 'duplicate' end, (p.request).kind,
         (p.request).idempotency_key, (p.request).payload_ref, k.ref::bigint
    from unnest(p_plans) p
    left join unnest(p_made) m(job_id) on m.job_id = (p.request).job_id
    left join penstock.once_key k on not p.dry_run and k.scope = 'job:' || (p.request).kind and k.key = (p.request).idempotency_key
   where p.fault is null and m.job_id is null
$$;
