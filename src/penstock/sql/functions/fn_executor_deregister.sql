-- fn_executor_deregister: this executor claims no more. What it holds it may still report, until its leases end.
--   writes  executor, queue_heartbeat, job_subscription (disabled)
create or replace function penstock.fn_executor_deregister(p_executor_id text, p_actor text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform penstock.actor_checked(p_actor);
  update penstock.executor e set deregistered_at = now() where e.executor_id = p_executor_id and e.deregistered_at is null;
  if not found then
    raise exception using errcode = 'PS001', message = format('executor %L is not registered', p_executor_id),
      hint = 'penstock executor list shows those that are.';
  end if;
  update penstock.job_subscription s set enabled = false where s.executor_id = p_executor_id;
  delete from penstock.queue_heartbeat h where h.executor_id = p_executor_id;
end
$$;
