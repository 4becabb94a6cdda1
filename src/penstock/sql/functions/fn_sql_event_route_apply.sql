-- fn_sql_event_route_apply: make the database do what a route says: its trigger made, replaced, or dropped.
--   Call it again after a column it names was dropped, renamed or added: until then such a ref is null, and writers go on.
--   returns  its state: live, dry_run, disabled, table_missing, renamed, not_applied or broken
--   refuses  an unknown route (PS011), a table on which our owner has no TRIGGER right, a ddl route without a superuser (42501)
--   locks    the route, then the table (share row exclusive), for at most 2 s
create or replace function penstock.fn_sql_event_route_apply(p_route_code text) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
  v_route penstock.iu_sql_event_route;
begin
  select * into v_route from penstock.iu_sql_event_route r where r.route_code = p_route_code for update;
  if v_route.route_code is null then
    raise exception using errcode = 'PS011', message = format('there is no SQL route %L', p_route_code);
  end if;
  if v_route.source_object_kind = 'table' then
    perform penstock.sql_route_trigger(v_route);
  elsif v_route.source_object_kind = 'database' then
    perform penstock.sql_route_ddl(v_route);
  end if;
  return penstock.sql_route_state(v_route);
end
$$;
