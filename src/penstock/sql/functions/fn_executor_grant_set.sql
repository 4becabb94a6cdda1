-- fn_executor_grant_set: let an actor enqueue jobs for an executor kind, or stop letting it.
--   p_actor          role:<r> stands for every holder of that role
--   p_executor_kind  from the whitelist
--   p_job_kind       null: any kind
--   p_granted        false takes the grant away
--   p_granted_by     who asks
--   writes           executor_grant
create or replace function penstock.fn_executor_grant_set(
  p_actor text, p_executor_kind text, p_job_kind text default null, p_granted boolean default true,
  p_granted_by text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_by penstock.actor_ref := penstock.actor_checked(p_granted_by);
begin
  perform penstock.executor_kind_check(p_executor_kind);
  if not penstock.actor_is_wellformed(p_actor) then
    raise exception using errcode = 'PS004', message = format('%L is not an actor', p_actor);
  end if;
  if p_granted then
    insert into penstock.executor_grant (actor, executor_kind, job_kind, granted_by)
    values (p_actor, p_executor_kind, p_job_kind, v_by) on conflict do nothing;
  else
    delete from penstock.executor_grant g
     where g.actor = p_actor and g.executor_kind = p_executor_kind and g.job_kind is not distinct from p_job_kind;
  end if;
end
$$;
