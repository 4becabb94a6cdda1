-- fn_iu_route_worker_enabled: is the route worker's own gate open? Anything but true is closed.
create or replace function penstock.fn_iu_route_worker_enabled() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select penstock.config_text('iu_core.route_worker_enabled', 'false') = 'true'
$$;
