-- sql_route_read: a definition as a row, with its defaults.
--   refuses  a key it does not know, and a value that cannot be read (PS011)
create or replace function penstock.sql_route_read(p_route_code text, p_definition jsonb, p_actor penstock.actor_ref)
returns penstock.iu_sql_event_route
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_known text[] := array['source_object_kind', 'source_schema', 'source_table', 'sql_event', 'target_event_domain', 'target_event_type',
                          'target_event_stream', 'payload_contract', 'idempotency_policy', 'source_filter', 'fail_closed', 'notes'];
  v_route penstock.iu_sql_event_route;
  v_key text;
begin
  select k into v_key from jsonb_object_keys(p_definition) k where k <> all (v_known) order by k limit 1;
  if v_key is not null then
    raise exception using errcode = 'PS011', message = format('SQL route %s: %s is nothing a route has', p_route_code, v_key),
      hint = 'It may have ' || array_to_string(v_known, ', ') || '.';
  end if;
  v_route := jsonb_populate_record(v_route, p_definition);
  v_route.route_code := p_route_code;
  v_route.registered_by := p_actor;
  v_route.fail_closed := coalesce(v_route.fail_closed, true);
  v_route.source_object_kind := coalesce(v_route.source_object_kind,
    case v_route.sql_event when 'call' then 'routine' when 'ddl' then 'database' else 'table' end);
  v_route.target_event_stream := penstock.event_type_checked(v_route.target_event_domain, v_route.target_event_type,
                                                             v_route.target_event_stream);
  perform penstock.sql_route_check(v_route);
  return v_route;
exception when invalid_text_representation or invalid_parameter_value then
  raise exception using errcode = 'PS011', message = format('SQL route %s cannot be read: %s', p_route_code, sqlerrm);
end
$$;
