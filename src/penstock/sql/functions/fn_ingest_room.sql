-- fn_ingest_room: how many more messages a subscription may have under way.
--   p_limit  its max_in_flight
--   returns  the limit less its jobs that have not ended, counted up to the limit; -1 when nobody should wait for room:
--            the runtime is replaced, or the subscription is no longer ACTIVE
--   reads    job_queue, subscription, subscription_runtime
create or replace function penstock.fn_ingest_room(p_subscription text, p_runtime_token bigint, p_limit integer) returns integer
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select case when r.token <> p_runtime_token or s.state <> 'ACTIVE' then -1
              else p_limit - (select count(*)::integer from (select from penstock.job_queue q where q.source = s.subscription_id
                                                              limit p_limit) l) end
    from penstock.subscription s join penstock.subscription_runtime r using (path) where s.path = p_subscription
$$;
