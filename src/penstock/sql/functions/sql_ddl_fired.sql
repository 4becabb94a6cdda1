-- sql_ddl_fired: what a command has made, changed or dropped becomes events of the enabled ddl routes. Not what is ours, and
-- nothing temporary.
--   writes  event_outbox, sql_event_route_note
create or replace function penstock.sql_ddl_fired() returns event_trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_route penstock.iu_sql_event_route;
  v_objects jsonb := penstock.sql_ddl_objects(tg_event);
begin
  if v_objects is null then
    return;
  end if;
  for v_route in select * from penstock.iu_sql_event_route r where r.sql_event = 'ddl' and r.enabled order by r.route_code loop
    begin
      perform penstock.sql_ddl_emit(v_route, v_objects, tg_tag);
    exception when others then
      if v_route.fail_closed and not v_route.dry_run then
        raise;
      end if;
      perform penstock.sql_route_noted(v_route.route_code, 'refused', 0, null, sqlerrm);
    end;
  end loop;
end
$$;
