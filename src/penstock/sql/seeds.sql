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
  ('queue.heartbeat.stale_threshold_seconds', '60', 'system:migrate'),
  ('queue.once_key.ttl_s.job', '2592000', 'system:migrate'),
  ('queue.once_key.ttl_s.event', '2592000', 'system:migrate'),
  ('queue.once_key.ttl_s.dedup', '86400', 'system:migrate'),
  ('queue.once_key.ttl_s.replay', '86400', 'system:migrate'),
  ('queue.safe_payload.max_bytes', '8192', 'system:migrate'),
  ('queue.result.max_bytes', '65536', 'system:migrate'),
  ('queue.error.max_bytes', '16384', 'system:migrate'),
  ('queue.causation.max_depth', '32', 'system:migrate'),
  ('subscription.lease_ms', '15000', 'system:migrate'),
  ('subscription.stall_s', '60', 'system:migrate'),
  ('execution.input.max_bytes', '1048576', 'system:migrate'),
  ('queue.forbidden_keys', 'body,content,raw,vector,embedding,secret,token,password,ssn,personal_data', 'system:migrate'),
  ('iu_core.routes_enabled', 'false', 'system:migrate'),
  ('iu_core.route_worker_enabled', 'false', 'system:migrate')
on conflict do nothing;

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
  for v_name in select 'wake_' || event_domain from penstock.event_domain union all select 'wake_any' loop
    if to_regclass('penstock.' || v_name) is null then
      execute format('create unlogged sequence penstock.%I', v_name);
    end if;
  end loop;
end $$;

insert into penstock.event_type_registry (event_domain, event_type, event_stream, registered_by)
select 'system', t, 'alert', 'system:migrate'
  from unnest(array['queue_worker_silent', 'subscription.message.dead_lettered', 'subscription.stalled', 'subscription.unattended',
                    'subscription.rate_limited', 'subscription.data_loss', 'subscription.data_loss_refused', 'subscription.read_again',
                    'subscription.source_unavailable', 'subscription.source_recovered']) t
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
