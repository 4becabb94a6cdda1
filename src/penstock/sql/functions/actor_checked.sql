-- actor_checked: the actor a call speaks for, once the caller is known to be allowed to.
--   p_actor  null means the caller itself, `role:<its role>`
--   returns  the actor; refuses with PS004
--   reads    actor_binding; api_token, for whose actors the gateway speaks
create or replace function penstock.actor_checked(p_actor text) returns penstock.actor_ref
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_caller text := penstock.caller();
begin
  if not penstock.actor_is_wellformed(coalesce(p_actor, 'role:' || v_caller)) then
    raise exception using errcode = 'PS004', message = format('%L is not an actor', coalesce(p_actor, 'role:' || v_caller)),
      hint = 'An actor is role:, agency:, user: or agent: and a name without spaces.';
  end if;
  if p_actor is null or p_actor = 'role:' || v_caller then
    return 'role:' || v_caller;
  end if;
  if penstock.caller_is_operator() then
    return p_actor;
  end if;
  if p_actor ~ '^(consumer|system):' or not exists (
    select from penstock.actor_binding b
     where b.actor_ref = p_actor
       and pg_has_role(v_caller::name, (select oid from pg_roles where rolname = b.db_role), 'usage'))
     and not penstock.token_speaks(v_caller, p_actor)
  then
    raise exception using errcode = 'PS004', message = format('%s may not speak for %s', v_caller, p_actor),
      hint = case when p_actor ~ '^(consumer|system):' then 'Only functions of Penstock speak for consumer: and system:.'
        else penstock.role_advice((select min(b.db_role) from penstock.actor_binding b where b.actor_ref = p_actor),
                                  format('select penstock.fn_actor_binding_set(%L, %L)', p_actor, v_caller)) end;
  end if;
  return p_actor;
end
$$;
