-- sql_route_names_check: refuse a route that keeps what no event carries, by the settings, by its own contract, or by that of its
-- event type (PS006).
create or replace function penstock.sql_route_names_check(p_route penstock.iu_sql_event_route) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_code text := (p_route).route_code;
  v_refs text[] := penstock.names_of((p_route).payload_contract -> 'keep_refs');
begin
  perform penstock.payload_check(
    (select jsonb_object_agg(r, 0) from unnest(v_refs || penstock.names_of((p_route).payload_contract -> 'subject')) r),
    format('keep_refs or subject of route %s', v_code));
  if v_refs && penstock.names_of((p_route).payload_contract -> 'forbid_keys') then
    raise exception using errcode = 'PS006', message = format('SQL route %s keeps a column that its own forbid_keys forbid', v_code);
  end if;
  perform penstock.event_contract_check((p_route).target_event_domain, (p_route).target_event_type,
    case when (p_route).sql_event = 'ddl' then '{"command": 0}' else (select jsonb_object_agg(r, 0) from unnest(v_refs) r) end,
    format('SQL route %s', v_code));
end
$$;
