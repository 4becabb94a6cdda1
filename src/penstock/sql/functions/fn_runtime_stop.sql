-- fn_runtime_stop: tell a runtime's commits that it is stopping, so that none waits for room.
--   writes  subscription_runtime
create or replace function penstock.fn_runtime_stop(p_subscription text, p_token bigint) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update penstock.subscription_runtime r set stopping = true where r.path = p_subscription and r.token = p_token
$$;
