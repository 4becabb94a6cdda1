-- fn_iu_core_routes_enabled: is the first gate of outbound routes open? Anything but true is closed.
create or replace function penstock.fn_iu_core_routes_enabled() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select penstock.config_text('iu_core.routes_enabled', 'false') = 'true'
$$;
