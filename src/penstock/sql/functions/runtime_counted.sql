-- runtime_counted: add a commit of messages to the runtime's counts, and to its recent batches, the newest first.
--   writes  subscription_runtime
create or replace function penstock.runtime_counted(p_subscription text, p_report jsonb) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  update penstock.subscription_runtime r
     set received = r.received + (p_report ->> 'received')::bigint, executions = r.executions + (p_report ->> 'executions')::bigint,
         deduplicated = r.deduplicated + (p_report ->> 'deduplicated')::bigint,
         dead_lettered = r.dead_lettered + (p_report ->> 'dead_lettered')::bigint, replays = r.replays + (p_report ->> 'replays')::bigint,
         batches = r.batches + 1, last_commit_at = clock_timestamp(), is_stalled = false,
         recent = jsonb_path_query_array(jsonb_build_array(p_report || jsonb_build_object('batch', r.batches + 1,
                    'commit_ms', (extract(epoch from clock_timestamp() - now()) * 1000)::bigint)) || r.recent, '$[0 to 4]'),
         backlog_since = case when r.backlog_since is not null then clock_timestamp() end
   where r.path = p_subscription and (p_report ->> 'received')::bigint > 0
$$;
