-- sql_route_ddl: the event triggers that ddl routes share, made with the first of them that is enabled, dropped with the last.
--   refuses  when our owner is no superuser (42501)
create or replace function penstock.sql_route_ddl(p_route penstock.iu_sql_event_route) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from penstock.iu_sql_event_route r where r.sql_event = 'ddl' and r.enabled) then
    drop event trigger if exists penstock_ddl;
    drop event trigger if exists penstock_drop;
    return;
  elsif not (p_route).enabled or penstock.sql_route_state(p_route) <> 'not_applied' then
    return;
  end if;
  if not (select r.rolsuper from pg_roles r where r.rolname = current_user) then
    raise exception using errcode = '42501', message = format('SQL route %s: ddl routes need an event trigger, and %s is no superuser',
      (p_route).route_code, current_user), hint = 'Let a superuser run penstock migrate, or do without ddl routes.';
  end if;
  drop event trigger if exists penstock_ddl;
  drop event trigger if exists penstock_drop;
  create event trigger penstock_ddl on ddl_command_end execute function penstock.sql_ddl_fired();
  create event trigger penstock_drop on sql_drop execute function penstock.sql_ddl_fired();
end
$$;
