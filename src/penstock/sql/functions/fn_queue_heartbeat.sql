-- fn_queue_heartbeat: only says "I live". Extends no lease.
--   p_executor_id, p_executor_kind  a registered executor and its kind; MOT never beats
--   p_incarnation                   this life of the process; null: a fresh one
--   p_kinds, p_pools                what it serves, null for everything; shown in the backlog. Refuses an unknown pool (PS003)
--   returns                         the incarnation
--   writes                          queue_heartbeat
create or replace function penstock.fn_queue_heartbeat(
  p_executor_id text, p_executor_kind text, p_incarnation uuid default null,
  p_kinds text[] default null, p_pools text[] default null) returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_incarnation uuid := coalesce(p_incarnation, gen_random_uuid());
  v_executor penstock.executor;
begin
  perform penstock.executor_kind_check(p_executor_kind);
  v_executor := penstock.executor_checked(p_executor_id);
  if v_executor.executor_kind <> p_executor_kind then
    raise exception using errcode = 'PS002',
      message = format('executor %s is registered as %s, not as %s', p_executor_id, v_executor.executor_kind, p_executor_kind);
  end if;
  perform penstock.pools_check(p_pools);
  perform penstock.heartbeat_write(v_executor, v_incarnation, p_kinds, p_pools);
  return v_incarnation;
end
$$;
