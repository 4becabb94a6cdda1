-- config_expects: what a setting of dot_config may hold.
--   returns  a regular expression its value must match; null for an unknown key
create or replace function penstock.config_expects(p_key text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case
    when p_key in ('queue.consumer_dispatch.enabled', 'queue.subscription_resolution.enabled', 'queue.notify.bridge_enabled',
                   'iu_core.routes_enabled', 'iu_core.route_worker_enabled') then '^(true|false)$'
    when p_key ~ '^queue\.retry\.max_attempts\.[A-Za-z][A-Za-z0-9_.:/-]{0,99}$' then '^([1-9][0-9]{0,2}|1000)$'
    when p_key ~ '^queue\.(lease_ms|timeout_ms)\.[A-Za-z][A-Za-z0-9_.:/-]{0,99}$' then '^[1-9][0-9]{1,8}$'
    when p_key = 'queue.retry.backoff.strategy' then '^(exponential|linear|fixed)$'
    when p_key in ('queue.retry.backoff.base_ms', 'queue.retry.backoff.cap_ms') then '^[0-9]{1,9}$'
    when p_key = 'queue.retry.backoff.jitter' then '^(0|1|0?\.[0-9]{1,6})$'
    when p_key in ('queue.heartbeat.stale_threshold_seconds', 'queue.safe_payload.max_bytes', 'queue.result.max_bytes',
                   'queue.error.max_bytes', 'queue.causation.max_depth', 'queue.once_key.ttl_s.job', 'queue.once_key.ttl_s.event',
                   'queue.once_key.ttl_s.dedup', 'queue.once_key.ttl_s.replay') then '^[1-9][0-9]{0,8}$'
    when p_key = 'queue.forbidden_keys' then '^[^,"\\]+(,[^,"\\]+)*$'
  end
$$;
