-- config_accepts: what a setting of dot_config may hold.
--   pattern  a regular expression its value must match; null for an unknown key
--   words    the same for people, with the unit
create or replace function penstock.config_accepts(p_key text, out pattern text, out words text)
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select a.pattern, a.words
    from (values
      ('^(queue\.(consumer_dispatch\.enabled|subscription_resolution\.enabled|notify\.bridge_enabled)'
       '|iu_core\.(routes_enabled|route_worker_enabled)|playbook\.inline_code\.enabled)$',
       '^(true|false)$', 'true or false'),
      ('^queue\.retry\.max_attempts\.[A-Za-z][A-Za-z0-9_.:/-]{0,99}$', '^([1-9][0-9]{0,2}|1000)$', 'a number of attempts, 1 to 1000'),
      ('^(queue\.(lease_ms|timeout_ms)\.[A-Za-z][A-Za-z0-9_.:/-]{0,99}|subscription\.lease_ms)$', '^[1-9][0-9]{1,8}$',
       'whole milliseconds, 10 to 999999999'),
      ('^queue\.retry\.backoff\.strategy$', '^(exponential|linear|fixed)$', 'exponential, linear or fixed'),
      ('^queue\.retry\.backoff\.(base_ms|cap_ms)$', '^[0-9]{1,9}$', 'whole milliseconds, 0 to 999999999'),
      ('^queue\.retry\.backoff\.jitter$', '^(0|1|0?\.[0-9]{1,6})$', 'a share from 0 to 1, such as 0.2'),
      ('^(queue\.(heartbeat\.stale_threshold_seconds|cursor\.(lag_s|stall_s)|once_key\.ttl_s\.(job|event|dedup|replay))'
       '|subscription\.stall_s)$', '^[1-9][0-9]{0,8}$', 'whole seconds, 1 to 999999999'),
      ('^(queue\.(safe_payload|result|error)|execution\.(input|results|loop))\.max_bytes$', '^[1-9][0-9]{0,8}$', 'bytes, 1 to 999999999'),
      ('^markcut\.staging\.keep_days$', '^[1-9][0-9]{0,3}$', 'whole days, 1 to 9999'),
      ('^execution\.keep_days$', '^(0|[1-9][0-9]{0,4})$', 'whole days, 0 to 99999; 0 is as long as their jobs are kept'),
      ('^queue\.(causation|consumer_dispatch)\.max_depth$', '^[1-9][0-9]{0,8}$', 'a number of events, 1 to 999999999'),
      ('^execution\.(max_depth|loop\.max_items)$', '^[1-9][0-9]{0,5}$', 'a number, 1 to 999999'),
      ('^queue\.forbidden_keys$', '^[^,"\\]+(,[^,"\\]+)*$', 'names with commas between them, without quotes or backslashes')
    ) a(keys, pattern, words)
   where p_key ~ a.keys
$$;
