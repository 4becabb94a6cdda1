-- sql_route_checked: the payload, refused when it is too large for an event (PS007) or holds a forbidden key (PS006), by the
-- settings, by the route's own contract or by that of its event type.
create or replace function penstock.sql_route_checked(p_payload jsonb, p_route_code text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_route penstock.iu_sql_event_route;
  v_key text;
begin
  if pg_column_size(p_payload) > penstock.config_text('queue.safe_payload.max_bytes', '8192')::bigint then
    raise exception using errcode = 'PS007', message = format('the payload of route %s is larger than %s bytes', p_route_code,
      penstock.config_text('queue.safe_payload.max_bytes', '8192')), hint = 'Keep fewer columns in its payload_contract: keep_refs.';
  end if;
  perform penstock.payload_check(p_payload, format('the payload of route %s', p_route_code));
  select * into v_route from penstock.iu_sql_event_route r where r.route_code = p_route_code;
  v_key := penstock.key_found(p_payload, penstock.names_of(v_route.payload_contract -> 'forbid_keys'));
  if v_key is not null then
    raise exception using errcode = 'PS006', message = format('the payload of route %s holds the key %L, which it forbids',
      p_route_code, v_key);
  end if;
  perform penstock.event_contract_check(v_route.target_event_domain, v_route.target_event_type, p_payload,
    format('the payload of route %s', p_route_code));
  return p_payload;
end
$$;
