-- fn_executor_register: make an executor known; registering again brings a deregistered one back.
--   p_executor_id    its name; it is spoken for by the actor agent:<executor_id>
--   p_executor_kind  from the whitelist; fixed once registered
--   p_registered_by  who asks
--   p_db_role        the database role that may claim as it
--   writes           executor, actor_binding. It claims nothing before fn_job_subscription_set
create or replace function penstock.fn_executor_register(
  p_executor_id text, p_executor_kind text, p_registered_by text default null, p_db_role text default 'dot_executor') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_registered_by);
  v_kind text;
begin
  perform penstock.executor_kind_check(p_executor_kind);
  if coalesce(p_executor_id, '') !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$' then
    raise exception using errcode = 'PS011', message = format('%L cannot be an executor id', p_executor_id),
      hint = 'Use letters, digits and _ . -, at most 100.';
  end if;
  insert into penstock.executor as e (executor_id, executor_kind, registered_by) values (p_executor_id, p_executor_kind, v_actor)
  on conflict (executor_id) do update set deregistered_at = null
  returning e.executor_kind into v_kind;
  if v_kind <> p_executor_kind then
    raise exception using errcode = 'PS002',
      message = format('executor %s is registered as %s, not as %s', p_executor_id, v_kind, p_executor_kind);
  end if;
  perform penstock.fn_actor_binding_set('agent:' || p_executor_id, p_db_role, true, p_registered_by);
end
$$;
