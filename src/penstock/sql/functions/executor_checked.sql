-- executor_checked: the executor a caller names, once it is known to exist and to be the caller's to name.
--   p_executor_id  a registered executor; it is named by the actor `agent:<executor_id>`
--   returns        its row; refuses with PS001 (unknown) or PS004 (not bound to a role the caller holds)
--   reads          executor, actor_binding
create or replace function penstock.executor_checked(p_executor_id text) returns penstock.executor
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_executor penstock.executor;
begin
  select * into v_executor from penstock.executor e where e.executor_id = p_executor_id and e.deregistered_at is null;
  if not found then
    raise exception using errcode = 'PS001', message = format('executor %L is not registered', p_executor_id),
      hint = 'Register it with fn_executor_register, or: penstock executor register ID --kind PG_worker';
  end if;
  perform penstock.actor_checked('agent:' || p_executor_id);
  return v_executor;
end
$$;
