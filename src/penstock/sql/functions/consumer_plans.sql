-- consumer_plans: what the enabled consumers are to make of these events.
--   p_consumer  of this one only, enabled or not; null: of all that are enabled
--   returns     a plan for each event and consumer, in the events' order, with its fault where it cannot become a job
--   reads       consumer_registry, dot_config
create or replace function penstock.consumer_plans(p_events penstock.event_outbox[], p_consumer text default null)
returns penstock.consumer_plan[]
language sql volatile set search_path = pg_catalog, pg_temp as $$
  with consumer as materialized (
    select c.*, penstock.template_format(c.idempotency_key_template) as key_format,
           penstock.template_format(c.payload_ref_template) as ref_format,
           penstock.config_text('queue.consumer_dispatch.max_depth', '8')::integer as max_depth
      from penstock.consumer_registry c where case when p_consumer is null then c.enabled else c.consumer_id = p_consumer end),
  planned as materialized (
    select c.consumer_id, c.dry_run, c.fail_closed, c.max_depth,
           row(row_number() over (order by e.tx_id, e.seq, c.consumer_id), nextval('penstock.job_id_seq'), c.job_kind,
               penstock.template_rendered(c.key_format, e), c.executor, 'event/' || e.event_id, e.subject_ref,
               penstock.template_rendered(c.ref_format, e),
               jsonb_build_object('consumer_id', c.consumer_id, 'event_type', e.event_type), c.priority,
               case when c.rate_per_s is not null then greatest(c.rate_at, now()) + interval '1 second' / c.rate_per_s::float8
                 * (row_number() over (partition by c.consumer_id order by e.tx_id, e.seq) - 1) end,
               e.correlation_id, e.event_id, 'consumer:' || c.consumer_id, 'shared', null, e.event_domain,
               e.trace, null, null, null, null, e.causation_depth + 1)::penstock.job_request as request
      from unnest(p_events) e
      join consumer c on c.event_domain = e.event_domain and c.event_type = e.event_type
                     and coalesce(c.event_stream, e.event_stream) = e.event_stream)
  select array(
    select row(p.consumer_id, p.dry_run, p.fail_closed,
               case when (p.request).idempotency_key is null then 'its idempotency key uses a field that this event does not have'
                    when (p.request).causation_depth > p.max_depth
                      then format('it stands at the end of %s causes, and queue.consumer_dispatch.max_depth is %s',
                                  (p.request).causation_depth - 1, p.max_depth)
                    else penstock.job_request_fault(p.request, null) end, p.request)::penstock.consumer_plan
      from planned p order by (p.request).ordinal)
$$;
