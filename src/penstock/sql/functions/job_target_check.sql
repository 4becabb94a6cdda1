-- job_target_check: may this actor enqueue this kind, for this executor kind, into this pool and domain?
--   refuses with PS002, PS003, PS012, PS004, PS005
--   reads   pool, event_domain, actor_binding, executor_grant
create or replace function penstock.job_target_check(
  p_kind text, p_executor text, p_pool text, p_event_domain text, p_actor text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if p_kind !~ '^[A-Za-z][A-Za-z0-9_.:/-]*$' or length(p_kind) > 100 then
    raise exception using errcode = 'PS011',
      message = format('kind %L: a kind is a letter, then letters, digits and _ . : / -, at most 100', p_kind);
  end if;
  perform penstock.executor_kind_check(p_executor);
  if not exists (select from penstock.pool p where p.pool = p_pool) then
    raise exception using errcode = 'PS003', message = format('pool %L does not exist', p_pool),
      hint = format('An operator makes it with: penstock pool set %s', p_pool);
  end if;
  if p_event_domain is not null
     and not exists (select from penstock.event_domain d where d.event_domain = p_event_domain) then
    raise exception using errcode = 'PS012', message = format('event domain %L does not exist', p_event_domain),
      hint = 'Register it with fn_event_domain_register.';
  end if;
  perform penstock.actor_checked(p_actor);
  if not penstock.caller_is_operator() and not exists (
    select from penstock.executor_grant g
     where g.executor_kind = p_executor
       and (g.job_kind is null or g.job_kind = p_kind)
       and (g.actor = p_actor or (g.actor like 'role:%' and exists (
             select from pg_roles o where o.rolname = substr(g.actor, 6)
                and pg_has_role(penstock.caller_role()::name, o.oid, 'usage')))))
  then
    raise exception using errcode = 'PS005',
      message = format('%s may not enqueue %s for %s', p_actor, p_kind, p_executor),
      hint = 'An operator grants it with fn_executor_grant_set.';
  end if;
end
$$;
