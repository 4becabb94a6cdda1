-- consumer_plans: what the enabled consumers are to make of these events, in the events' order.
--   p_consumer  of this one only, enabled or not; null: of all that are enabled
--   reads       consumer_registry, dot_config
create or replace function penstock.consumer_plans(p_events penstock.event_outbox[], p_consumer text default null)
returns setof penstock.consumer_plan
language sql volatile set search_path = pg_catalog, pg_temp as $$
  with consumer as materialized (
    select c.*, penstock.template_format(c.idempotency_key_template) as key_format,
           penstock.template_format(c.payload_ref_template) as ref_format, ('consumer:' || c.consumer_id)::penstock.actor_ref as actor,
           jsonb_build_object('consumer_id', c.consumer_id, 'event_type', c.event_type) as safe_payload,
           penstock.config_text('queue.consumer_dispatch.max_depth', '8')::integer as max_depth
      from penstock.consumer_registry c where case when p_consumer is null then c.enabled else c.consumer_id = p_consumer end)
  select nextval('penstock.job_id_seq'), p.consumer_id, p.dry_run, p.fail_closed,
         case when p.key is null then 'its idempotency key uses a field that this event does not have'
              when p.causation_depth >= p.max_depth
                then format('it stands at the end of %s causes, and queue.consumer_dispatch.max_depth is %s', p.causation_depth,
                            p.max_depth)
              when length(p.key) not between 1 and 500 then 'its idempotency key does not have 1 to 500 characters'
              when length(p.ref) > 2000 or length(p.subject_ref) > 2000 then 'a ref of it is longer than 2000 characters' end,
         p.job_kind, p.executor, p.priority, p.actor, p.safe_payload, p.key, p.ref, p.event_id, p.event_domain, p.subject_ref,
         p.correlation_id, p.trace, (p.causation_depth + 1)::smallint
    from (select c.consumer_id, c.dry_run, c.fail_closed, c.job_kind, c.executor, c.priority, c.actor, c.safe_payload, c.max_depth,
                 e.event_id, e.event_domain, e.subject_ref, e.correlation_id, e.trace, e.causation_depth,
                 penstock.template_rendered(c.key_format, e) as key, penstock.template_rendered(c.ref_format, e) as ref
            from unnest(p_events) e
            -- the type decides: the stream it belongs to may have been another one when this was recorded
            join consumer c on c.event_domain = e.event_domain and c.event_type = e.event_type
           order by e.tx_id, e.seq, c.consumer_id) p
$$;
