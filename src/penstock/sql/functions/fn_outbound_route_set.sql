-- fn_outbound_route_set: this event is to be delivered there. Makes a route, changes it, or switches it.
--   p_definition   null changes nothing; else an object: event_domain, event_type and event_stream (null: any), route_kind
--                  (event, job, http, notify), target, notes. A new or changed route is disabled and a dry run
--   p_enabled, p_dry_run  live is enabled and not dry_run: it needs a review, and that a dry run; null changes nothing
--   p_reviewed_by  who has looked at the dry run
--   p_actor        who asks; null is the caller itself
--   returns        disabled, dry_run or live
--   writes         iu_outbound_route
create or replace function penstock.fn_outbound_route_set(
  p_route_code text, p_definition jsonb default null, p_enabled boolean default null, p_dry_run boolean default null,
  p_reviewed_by text default null, p_actor text default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_route penstock.iu_outbound_route;
begin
  if p_definition is not null then
    perform penstock.outbound_route_defined(p_route_code, p_definition, v_actor);
  end if;
  select * into v_route from penstock.iu_outbound_route r where r.route_code = p_route_code for update;
  if v_route.route_code is null then
    raise exception using errcode = 'PS011', message = format('there is no outbound route %L', p_route_code);
  end if;
  if p_reviewed_by is not null then
    v_route.reviewed_by := penstock.actor_checked(p_reviewed_by);
    v_route.reviewed_at := now();
    perform penstock.review_check('outbound route ' || p_route_code, exists (
      select from penstock.iu_route_attempt a where a.route_code = p_route_code and a.status = 'dry_run'
         and a.attempted_at >= v_route.registered_at));
  end if;
  v_route.enabled := coalesce(p_enabled, v_route.enabled);
  v_route.dry_run := coalesce(p_dry_run, v_route.dry_run);
  perform penstock.live_check('outbound route ' || p_route_code, v_route.enabled and not v_route.dry_run, v_route.reviewed_at,
    format('penstock route review %s --outbound', p_route_code));
  update penstock.iu_outbound_route r
     set enabled = v_route.enabled, dry_run = v_route.dry_run, reviewed_by = v_route.reviewed_by, reviewed_at = v_route.reviewed_at,
         live_at = case when v_route.enabled and not v_route.dry_run then coalesce(r.live_at, now()) end
   where r.route_code = p_route_code;
  return case when not v_route.enabled then 'disabled' when v_route.dry_run then 'dry_run' else 'live' end;
end
$$;
