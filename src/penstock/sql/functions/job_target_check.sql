-- job_target_check: may this actor enqueue this kind for this executor kind?
--   refuses with PS011, PS002, PS004, PS005
--   reads   actor_binding, executor_grant
create or replace function penstock.job_target_check(p_kind text, p_executor text, p_actor text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if p_kind !~ '^[A-Za-z][A-Za-z0-9_.:/-]*$' or length(p_kind) > 100 then
    raise exception using errcode = 'PS011',
      message = format('kind %L: a kind is a letter, then letters, digits and _ . : / -, at most 100', p_kind);
  end if;
  perform penstock.executor_kind_check(p_executor);
  perform penstock.actor_checked(p_actor);
  if penstock.caller_is_operator() then
    return;
  end if;
  if not exists (
    select from penstock.executor_grant g
     where g.executor_kind = p_executor
       and (g.job_kind is null or g.job_kind = p_kind)
       and (g.actor = p_actor or (g.actor like 'role:%' and exists (
             select from pg_roles o where o.rolname = substr(g.actor, 6)
                and pg_has_role(penstock.caller()::name, o.oid, 'usage')))))
  then
    raise exception using errcode = 'PS005',
      message = format('%s may not enqueue %s for %s', p_actor, p_kind, p_executor),
      hint = penstock.role_advice(
        (select o.rolname::text from penstock.executor_grant g join pg_roles o on g.actor = 'role:' || o.rolname
          where g.executor_kind = p_executor and (g.job_kind is null or g.job_kind = p_kind)
          order by o.rolname <> 'penstock_producer', o.rolname limit 1),
        format('select penstock.fn_executor_grant_set(%L, %L)', p_actor, p_executor));
  end if;
end
$$;
