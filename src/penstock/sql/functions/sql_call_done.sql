-- sql_call_done: record that the routine of a call route was called, as its route says.
--   writes  once_key, event_outbox, sql_event_route_note
create or replace function penstock.sql_call_done(p_route_code text, p_args jsonb, p_actor text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_route penstock.iu_sql_event_route;
  v_now penstock.sql_route_context;
  v_payload jsonb;
  v_key text;
  v_subject text;
begin
  select * into v_route from penstock.iu_sql_event_route r where r.route_code = p_route_code and r.sql_event = 'call' and r.enabled;
  if v_route.route_code is null then
    return;
  end if;
  v_payload := (select jsonb_object_agg(k, p_args -> k) from unnest(penstock.names_of(v_route.payload_contract -> 'keep_refs')) k);
  v_key := (select p_route_code || ':' || md5(jsonb_agg(p_args -> k order by o)::text)
              from unnest(penstock.names_of(v_route.idempotency_policy -> 'key')) with ordinality u(k, o));
  v_subject := (select string_agg(p_args ->> k, ',' order by o)
                  from unnest(penstock.names_of(v_route.payload_contract -> 'subject')) with ordinality u(k, o));
  if v_route.dry_run then
    perform penstock.sql_route_noted(p_route_code, 'dry_run', 1, jsonb_build_array(jsonb_build_object('payload', v_payload)), null);
    return;
  end if;
  v_now := penstock.sql_route_context_now(false);
  perform penstock.sql_route_checked(v_payload, p_route_code);
  perform penstock.fn_iu_emit_event(v_route.target_event_domain, v_route.target_event_type, v_route.target_event_stream,
    v_route.source_schema || '.' || v_route.source_table,
    v_subject, v_payload, p_actor, v_now.correlation_id, v_now.causation_event_id, v_key, v_now.trace);
exception when others then
  if v_route.fail_closed then
    raise;
  end if;
  perform penstock.sql_route_noted(p_route_code, 'refused', 0, null, sqlerrm);
end
$$;
