-- sql_ddl_is_ours: does this thing belong to Penstock: what is in its schema, the triggers of routes, the event triggers?
create or replace function penstock.sql_ddl_is_ours(p_schema text, p_type text, p_identity text) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce(p_schema = 'penstock', false)
      or p_type = 'schema' and p_identity = 'penstock'
      or p_type = 'trigger' and p_identity ~ '^penstock_route_[0-9]+ on '
      or p_type = 'event trigger' and p_identity in ('penstock_ddl', 'penstock_drop')
$$;
