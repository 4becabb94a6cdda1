-- outbound_route_defined: keep an outbound route's definition; one that is new or differs starts disabled, dry, without a review.
--   refuses  what cannot be a route (PS011, PS012, PS013)
--   writes   iu_outbound_route
create or replace function penstock.outbound_route_defined(p_route_code text, p_definition jsonb, p_actor penstock.actor_ref) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_known text[] := array['event_domain', 'event_type', 'event_stream', 'route_kind', 'target', 'notes'];
  v_route penstock.iu_outbound_route;
  v_key text;
begin
  select k into v_key from jsonb_object_keys(p_definition) k where k <> all (v_known) order by k limit 1;
  if v_key is not null then
    raise exception using errcode = 'PS011', message = format('outbound route %s: %s is nothing a route has', p_route_code, v_key),
      hint = 'It may have ' || array_to_string(v_known, ', ') || '.';
  end if;
  v_route := jsonb_populate_record(v_route, p_definition);
  v_route.route_code := p_route_code;
  v_route.target := coalesce(v_route.target, '{}');
  perform penstock.outbound_route_check(v_route, p_actor);
  insert into penstock.iu_outbound_route as r (route_code, event_domain, event_type, event_stream, route_kind, target, notes, registered_by)
  values (p_route_code, v_route.event_domain, v_route.event_type, v_route.event_stream, v_route.route_kind, v_route.target, v_route.notes,
          p_actor)
  on conflict (route_code) do update set
    event_domain = excluded.event_domain, event_type = excluded.event_type, event_stream = excluded.event_stream,
    route_kind = excluded.route_kind, target = excluded.target, notes = excluded.notes, registered_by = excluded.registered_by,
    registered_at = now(), enabled = false, dry_run = true, reviewed_by = null, reviewed_at = null, live_at = null
  where (r.event_domain, r.event_type, r.event_stream, r.route_kind, r.target)
    is distinct from (excluded.event_domain, excluded.event_type, excluded.event_stream, excluded.route_kind, excluded.target);
end
$$;
