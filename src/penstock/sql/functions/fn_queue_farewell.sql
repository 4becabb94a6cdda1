-- fn_queue_farewell: this incarnation ends on purpose, so its silence is not an alarm.
--   writes  queue_heartbeat
create or replace function penstock.fn_queue_farewell(p_executor_id text, p_incarnation uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform penstock.executor_checked(p_executor_id);
  delete from penstock.queue_heartbeat h where h.incarnation = p_incarnation and h.executor_id = p_executor_id;
end
$$;
