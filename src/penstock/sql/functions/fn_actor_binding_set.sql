-- fn_actor_binding_set: let the holders of a database role speak for an actor, or stop letting them.
--   p_actor_ref  role:, agency:, user: or agent:; consumer: and system: are set by functions only
--   p_db_role    an existing database role
--   p_bound      false takes the binding away
--   writes       actor_binding
create or replace function penstock.fn_actor_binding_set(
  p_actor_ref text, p_db_role text, p_bound boolean default true, p_actor text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  if not penstock.actor_is_wellformed(p_actor_ref) or p_actor_ref ~ '^(consumer|system):' then
    raise exception using errcode = 'PS004', message = format('%L cannot be bound to a role', p_actor_ref),
      hint = 'An actor is role:, agency:, user: or agent: and a name without spaces.';
  end if;
  if not exists (select from pg_roles r where r.rolname = p_db_role) then
    raise exception using errcode = 'PS011', message = format('database role %L does not exist', p_db_role),
      hint = format('Name one that does, such as dot_executor, or have a superuser run: create role %I', p_db_role);
  end if;
  if p_bound then
    insert into penstock.actor_binding (actor_ref, db_role, bound_by) values (p_actor_ref, p_db_role, v_actor) on conflict do nothing;
  else
    delete from penstock.actor_binding b where b.actor_ref = p_actor_ref and b.db_role = p_db_role;
  end if;
end
$$;
