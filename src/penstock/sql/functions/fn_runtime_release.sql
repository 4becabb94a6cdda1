-- fn_runtime_release: a runtime has ended in good order. A subscription that was draining is DEACTIVATED then.
--   returns  the subscription's state; refuses a runtime that was replaced with PS019
--   writes   subscription_runtime; drops its staging tables
--   locks    the runtime's row, then the subscription's
create or replace function penstock.fn_runtime_release(p_subscription text, p_token bigint) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_held penstock.subscription_runtime;
  v_state text;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription for update;
  perform penstock.runtime_checked(p_subscription, v_held, p_token);
  update penstock.subscription_runtime r
     set lease_until = null, released_at = clock_timestamp(), incarnation = null, is_stalled = false,
         -- what waits at the source is known to whoever reads it
         backlog = null, backlog_at = null, backlog_since = null
   where r.path = p_subscription;
  perform penstock.stage_drop(penstock.stage_name(p_subscription, p_token, lane)) from generate_series(0, 1) lane;
  v_state := penstock.subscription_locked(p_subscription);
  if v_state = 'DRAINING' then
    v_state := penstock.subscription_moved(p_subscription, 'DEACTIVATED', 'system:runtime');
  end if;
  return v_state;
end
$$;
