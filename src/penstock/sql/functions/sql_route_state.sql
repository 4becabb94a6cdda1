-- sql_route_state: what has become of a route.
--   returns  disabled; table_missing: its table is gone; renamed: it has another name, and its events name it so; not_applied: its
--            trigger is not there, or off; broken: a column it names is gone, and the ref null, or its filter needs the primary key
--            that is gone; dry_run; live
create or replace function penstock.sql_route_state(p_route penstock.iu_sql_event_route) returns text
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select case
    when not (p_route).enabled then 'disabled'
    when (p_route).source_object_kind = 'table' and t.relid is null then
      case when exists (select from pg_trigger g where g.tgname = 'penstock_route_' || (p_route).route_id) then 'renamed'
           else 'table_missing' end
    when (p_route).source_object_kind = 'table' and not exists (
      select from pg_trigger g where g.tgrelid = t.relid and g.tgname = 'penstock_route_' || (p_route).route_id and g.tgenabled <> 'D')
      then 'not_applied'
    when (p_route).source_object_kind = 'database' and 2 > (
      select count(*) from pg_event_trigger g where g.evtname in ('penstock_ddl', 'penstock_drop') and g.evtenabled <> 'D')
      then 'not_applied'
    when (p_route).source_filter is not null and cardinality(penstock.table_key(t.relid)) = 0 then 'broken'
    when (p_route).source_object_kind = 'table' and exists (
      select from unnest(penstock.sql_route_columns(p_route)) n where not exists (
        select from pg_attribute a where a.attrelid = t.relid and a.attname = n and a.attnum > 0 and not a.attisdropped)) then 'broken'
    when (p_route).dry_run then 'dry_run' else 'live' end
    from (select penstock.sql_route_table(p_route)) t(relid)
$$;
