-- sql_route_trigger: the trigger function of a route, and its trigger where it is enabled.
--   With a filter, old and new rows are joined: by a plan that was made for few of them and meets many, never row by row. With a key,
--   a time is the same text whoever writes it.
--   A body is replaced without a lock on the table; the trigger is made anew only where it has to be another one.
create or replace function penstock.sql_route_trigger(p_route penstock.iu_sql_event_route) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_name text := 'sql_route_' || (p_route).route_id;
  v_trigger text := 'penstock_route_' || (p_route).route_id;
  v_table regclass := penstock.sql_route_table(p_route);
  v_was name := case when (p_route).source_filter is not null then 'was' end;
  v_old name := case (p_route).sql_event when 'delete' then 'changed' when 'update' then v_was end;
  v_new name := case when (p_route).sql_event in ('insert', 'update') then 'changed' end;
  v_tables text;
begin
  perform penstock.partition_ensure('event_outbox', now());
  execute format('create or replace function penstock.%I() returns trigger language plpgsql security definer '
                 'set search_path = pg_catalog, pg_temp %s as %L', v_name,
                 concat_ws(' ', case when v_was is not null then 'set enable_nestloop = off set jit = off' end,
                           case when (p_route).idempotency_policy is not null
                             then 'set timezone = ''UTC'' set datestyle = ''ISO, YMD''' end),
                 case when v_table is null then 'begin return null; end' else penstock.sql_route_body(p_route, v_table) end);
  execute format('revoke all on function penstock.%I() from public', v_name);
  perform penstock.sql_route_untriggered(v_trigger, case when (p_route).enabled then v_table end);
  if v_table is null or not (p_route).enabled or exists (
    select from pg_trigger g where g.tgrelid = v_table and g.tgname = v_trigger and g.tgenabled <> 'D'
       and g.tgoldtable is not distinct from v_old and g.tgnewtable is not distinct from v_new
       and g.tgtype = case (p_route).sql_event when 'insert' then 4 when 'delete' then 8 when 'update' then 16 else 32 end) then
    return;
  end if;
  v_tables := concat_ws(' ', 'old table as ' || v_old, 'new table as ' || v_new);
  execute format('create or replace trigger %I after %s on %s %s for each statement execute function penstock.%I()', v_trigger,
                 (p_route).sql_event, v_table, case when v_tables <> '' then 'referencing ' || v_tables end, v_name);
exception when insufficient_privilege then
  raise exception using errcode = '42501', message = format('SQL route %s: %s may not put a trigger on %s', (p_route).route_code,
    current_user, v_table), hint = format('The owner of the table runs: grant trigger on %s to %I', v_table, current_user);
end
$$;
