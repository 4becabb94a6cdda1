-- routes_for: the events a worker serves, each with the routes that take it; with none, once without a route.
create or replace function penstock.routes_for(p_worker penstock.iu_route_worker_cursor, p_events penstock.event_outbox[])
returns table (event penstock.event_outbox, route penstock.iu_outbound_route, idempotency_key text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select e, r, format('iu_wrk:%s:%s:%s', (p_worker).worker_name, coalesce(r.route_code, 'none'), e.event_id)
    from unnest(p_events) e
    left join penstock.iu_outbound_route r
      -- where a type is named it decides: the stream it belongs to may have been another one when this was recorded
      on r.event_domain = e.event_domain
     and case when r.event_type is not null then r.event_type = e.event_type
              else coalesce(r.event_stream, e.event_stream) = e.event_stream end
   where case when (p_worker).event_domain is not null then e.event_domain = (p_worker).event_domain
              else exists (select from penstock.iu_outbound_route o where o.event_domain = e.event_domain) end
$$;
