-- Defaults that work: what a new user's first worker needs. Never overwrites what an operator has set.

-- Bindings and grants go into a new database only: what an operator has taken away stays away.
insert into penstock.actor_binding (actor_ref, db_role, bound_by)
select b.actor_ref, b.db_role, 'system:migrate'
  from (values ('role:workflow_admin', 'workflow_admin'), ('role:dot_executor', 'dot_executor'),
               ('role:penstock_producer', 'penstock_producer'), ('role:penstock_mot', 'penstock_mot'),
               ('role:penstock_pipeline', 'penstock_pipeline'), ('role:penstock_gateway', 'penstock_gateway'),
               ('role:penstock_reader', 'penstock_reader'), ('agent:default', 'dot_executor')) b(actor_ref, db_role)
 where not exists (select from penstock.dot_config);
insert into penstock.executor_grant (actor, executor_kind, granted_by)
select 'role:' || r, 'PG_worker', 'system:migrate'
  from unnest(array['penstock_producer', 'dot_executor', 'penstock_mot', 'penstock_pipeline', 'penstock_gateway']) r
 where not exists (select from penstock.dot_config);

insert into penstock.dot_config (key, value, updated_by) values
  ('queue.consumer_dispatch.enabled', 'true', 'system:migrate'),
  ('queue.subscription_resolution.enabled', 'true', 'system:migrate'),
  ('queue.notify.bridge_enabled', 'true', 'system:migrate'),
  ('queue.retry.max_attempts.default', '5', 'system:migrate'),
  ('queue.retry.backoff.strategy', 'exponential', 'system:migrate'),
  ('queue.retry.backoff.base_ms', '1000', 'system:migrate'),
  ('queue.retry.backoff.cap_ms', '600000', 'system:migrate'),
  ('queue.retry.backoff.jitter', '0.2', 'system:migrate'),
  ('queue.lease_ms.default', '60000', 'system:migrate'),
  ('queue.timeout_ms.default', '900000', 'system:migrate'),
  ('queue.timeout_ms.route_deliver', '90000', 'system:migrate'),
  ('queue.timeout_ms.tool:spark', '21600000', 'system:migrate'),
  ('queue.heartbeat.stale_threshold_seconds', '60', 'system:migrate'),
  ('queue.once_key.ttl_s.job', '2592000', 'system:migrate'),
  ('queue.once_key.ttl_s.event', '2592000', 'system:migrate'),
  ('queue.once_key.ttl_s.dedup', '86400', 'system:migrate'),
  ('queue.once_key.ttl_s.replay', '86400', 'system:migrate'),
  ('queue.safe_payload.max_bytes', '8192', 'system:migrate'),
  ('queue.result.max_bytes', '65536', 'system:migrate'),
  ('queue.error.max_bytes', '16384', 'system:migrate'),
  ('queue.causation.max_depth', '32', 'system:migrate'),
  ('queue.consumer_dispatch.max_depth', '8', 'system:migrate'),
  ('queue.cursor.lag_s', '300', 'system:migrate'),
  ('queue.cursor.stall_s', '60', 'system:migrate'),
  ('subscription.lease_ms', '15000', 'system:migrate'),
  ('subscription.stall_s', '60', 'system:migrate'),
  ('execution.input.max_bytes', '1048576', 'system:migrate'),
  ('execution.results.max_bytes', '16777216', 'system:migrate'),
  ('execution.max_depth', '16', 'system:migrate'),
  ('execution.keep_days', '0', 'system:migrate'),
  ('execution.loop.max_items', '100000', 'system:migrate'),
  ('execution.loop.max_bytes', '16777216', 'system:migrate'),
  ('queue.forbidden_keys', 'body,content,raw,vector,embedding,secret,token,password,ssn,personal_data', 'system:migrate'),
  ('playbook.inline_code.enabled', 'false', 'system:migrate'),
  ('markcut.staging.keep_days', '15', 'system:migrate'),
  ('iu_core.routes_enabled', 'false', 'system:migrate'),
  ('iu_core.route_worker_enabled', 'false', 'system:migrate')
on conflict do nothing;

insert into penstock.callback_secret default values on conflict do nothing;

insert into penstock.pool (pool, note, set_by) values
  ('shared', 'the default', 'system:migrate'),
  ('priority', 'kept free for what cannot wait', 'system:migrate'),
  ('subscription', 'what sources bring in', 'system:migrate')
on conflict do nothing;

insert into penstock.event_domain (event_domain, registered_by)
select d, 'system:migrate' from unnest(array['iu', 'piece', 'staging', 'birth_registry', 'governance', 'tac', 'kg', 'system',
                                            'dot', 'health', 'iu_sql']) d
on conflict do nothing;
do $$
declare
  v_name text;
begin
  for v_name in select 'wake_' || event_domain from penstock.event_domain union all select unnest(array['wake_any', 'wake__outbox']) loop
    if to_regclass('penstock.' || v_name) is null then
      execute format('create unlogged sequence penstock.%I', v_name);
    end if;
  end loop;
end $$;

insert into penstock.event_type_registry (event_domain, event_type, event_stream, registered_by)
select 'system', t, 'alert', 'system:migrate'
  from unnest(array['queue_worker_silent', 'subscription.message.dead_lettered', 'subscription.stalled', 'subscription.unattended',
                    'subscription.rate_limited', 'subscription.data_loss', 'subscription.data_loss_refused', 'subscription.read_again',
                    'subscription.source_unavailable', 'subscription.source_recovered', 'subscription_broadcast',
                    'cursor_stalled', 'cursor_lagging', 'events_missed']) t
union all
select 'system', 'subscription.' || t, 'update', 'system:migrate'
  from unnest(array['registered', 'activated', 'paused', 'resumed', 'draining', 'deactivated']) t
on conflict do nothing;

insert into penstock.executor (executor_id, executor_kind, registered_by) values ('default', 'PG_worker', 'system:migrate')
on conflict do nothing;
insert into penstock.job_subscription (executor_id, executor_kind, enabled, registered_by)
select 'default', 'PG_worker', true, 'system:migrate'
 where not exists (select from penstock.job_subscription s where s.executor_id = 'default');

select penstock.partitions_ahead();

-- Readers of the event log begin where it stands.
insert into penstock.event_cursor (cursor_name, tick_id)
select n, t.tick_id from (select penstock.fn_outbox_tick(true) as tick_id where not exists (select from penstock.event_cursor)) t,
       unnest(array['consumers', 'broadcasts', 'audit', 'route:iu_outbound_default']) n;
insert into penstock.iu_route_worker_cursor (worker_name, set_by) values ('iu_outbound_default', 'system:migrate') on conflict do nothing;

-- Subscriptions of the first document, muted: a recipient that wants them unmutes its own.
insert into penstock.event_subscription (recipient_ref, event_domain, event_type, event_stream, mute, set_by)
select r.recipient_ref, r.event_domain, r.event_type, r.event_stream, true, 'system:migrate'
  from (values ('role:workflow_admin', 'staging', null, 'birth'), ('role:workflow_admin', 'staging', null, 'update'),
               ('role:dot_executor', 'dot', null, null), ('agency:integrity', 'health', null, 'alert'),
               ('role:kg_indexer', 'kg', null, null),
               ('role:auto_instantiator', 'iu', 'template.instance_auto_composed', 'update'))
         r(recipient_ref, event_domain, event_type, event_stream)
 where not exists (select from penstock.event_subscription);

-- Consumers of the second document, disabled and dry. Those of pieces and staging have their handlers in penstock.markcut.handlers;
-- producers and handlers of the others are not ours.
insert into penstock.event_type_registry (event_domain, event_type, event_stream, registered_by) values
  ('piece', 'piece_added', 'birth', 'system:migrate'), ('piece', 'piece_changed', 'update', 'system:migrate'),
  ('piece', 'piece_reordered', 'update', 'system:migrate'), ('piece', 'piece_deprecated', 'update', 'system:migrate'),
  ('system', 'issue_resolved', 'update', 'system:migrate'), ('staging', 'record_expired', 'update', 'system:migrate'),
  ('dot', 'run.applied', 'update', 'system:migrate'), ('birth_registry', 'entity_born', 'birth', 'system:migrate')
on conflict do nothing;
insert into penstock.consumer_registry (consumer_id, event_domain, event_type, job_kind, executor, idempotency_key_template,
  payload_ref_template, registered_by)
select c.consumer_id, c.event_domain, c.event_type, c.job_kind, 'PG_worker', '{event_id}:' || c.consumer_id, '{event_subject_ref}',
       'system:migrate'
  from (values ('recompose_pieces', 'piece', 'piece_reordered', 'iu_recompose_pieces'),
               ('axis_refresh', 'piece', 'piece_deprecated', 'iu_axis_refresh'),
               ('health_followup', 'system', 'issue_resolved', 'health_followup_review'),
               ('staging_cleanup', 'staging', 'record_expired', 'staging_cleanup_sweep'),
               ('kg_link_refresh', 'dot', 'run.applied', 'kg_link_refresh'),
               ('auto_instantiate_from_template', 'birth_registry', 'entity_born', 'auto_instantiate_from_template'))
         c(consumer_id, event_domain, event_type, job_kind)
on conflict do nothing;

-- What SQL routes run is made by functions of this version; a table that is not ours to touch any more keeps what it has.
do $$
declare
  v_code text;
begin
  for v_code in select r.route_code from penstock.iu_sql_event_route r where r.enabled order by r.route_code loop
    begin
      perform penstock.fn_sql_event_route_apply(v_code);
    exception when others then
      raise warning 'SQL route % is as it was: %', v_code, sqlerrm;
    end;
  end loop;
end $$;
