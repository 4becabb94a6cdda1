-- fn_sql_event_route_set: this SQL change is to become that event. Makes a route, changes it, or switches it.
--   p_route_code   letters, digits and _ . : -, at most 100
--   p_definition   null changes nothing; else an object with the columns of iu_sql_event_route: source_schema, source_table,
--                  sql_event, target_event_domain, target_event_type, and as needed target_event_stream, payload_contract
--                  {keep_refs, forbid_keys, subject}, idempotency_policy {key}, source_filter {changed}, fail_closed, notes.
--                  A new or changed route is disabled and a dry run
--   p_enabled, p_dry_run  live is enabled and not dry_run: it needs a review, and that a dry run; null changes nothing
--   p_reviewed_by  who has looked at the dry run
--   p_actor        who asks; null is the caller itself
--   returns        its state, as fn_sql_event_route_apply
--   writes         iu_sql_event_route; makes, replaces or drops the trigger
create or replace function penstock.fn_sql_event_route_set(
  p_route_code text, p_definition jsonb default null, p_enabled boolean default null, p_dry_run boolean default null,
  p_reviewed_by text default null, p_actor text default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_route penstock.iu_sql_event_route;
begin
  if p_definition is not null then
    perform penstock.sql_route_defined(penstock.sql_route_read(p_route_code, p_definition, v_actor));
  end if;
  select * into v_route from penstock.iu_sql_event_route r where r.route_code = p_route_code for update;
  if v_route.route_code is null then
    raise exception using errcode = 'PS011', message = format('there is no SQL route %L', p_route_code);
  end if;
  if p_reviewed_by is not null then
    v_route.reviewed_by := penstock.actor_checked(p_reviewed_by);
    v_route.reviewed_at := now();
    perform penstock.review_check('SQL route ' || p_route_code, exists (
      select from penstock.sql_event_route_note n where n.route_code = p_route_code and n.outcome = 'dry_run' and n.events > 0
         and n.noted_at >= v_route.registered_at));
  end if;
  v_route.enabled := coalesce(p_enabled, v_route.enabled);
  v_route.dry_run := coalesce(p_dry_run, v_route.dry_run);
  perform penstock.live_check('SQL route ' || p_route_code, v_route.enabled and not v_route.dry_run, v_route.reviewed_at,
    format('penstock route review %s --sql', p_route_code));
  if v_route.enabled then
    -- what is forbidden may have changed since
    perform penstock.sql_route_names_check(v_route);
  end if;
  update penstock.iu_sql_event_route r
     set enabled = v_route.enabled, dry_run = v_route.dry_run, reviewed_by = v_route.reviewed_by, reviewed_at = v_route.reviewed_at,
         live_at = case when v_route.enabled and not v_route.dry_run then coalesce(r.live_at, now()) end
   where r.route_code = p_route_code;
  return penstock.fn_sql_event_route_apply(p_route_code);
end
$$;
