-- fn_event_type_register: declare an event type before it is emitted.
--   p_event_domain, p_event_type, p_event_stream  what it is called, and the stream it belongs to (birth, update, alert, …)
--   p_payload_contract  {"keep_refs": [keys it may hold], "forbid_keys": [keys it may not, at any depth]}; null: what it likes
--   refuses             a contract that an enabled SQL route breaks (PS006)
--   writes              event_type_registry; registering again changes the stream, also in rows that name this type in the old one,
--                       and the contract
create or replace function penstock.fn_event_type_register(
  p_event_domain text, p_event_type text, p_event_stream text, p_actor text default null,
  p_payload_contract jsonb default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  if not exists (select from penstock.event_domain d where d.event_domain = p_event_domain) then
    raise exception using errcode = 'PS012', message = format('event domain %L does not exist', p_event_domain),
      hint = format('An operator makes it with: select penstock.fn_event_domain_register(%L)', p_event_domain);
  end if;
  if coalesce(p_event_type, '') !~ '^[A-Za-z][A-Za-z0-9_.:-]{0,99}$'
     or coalesce(p_event_stream, '') !~ '^[A-Za-z][A-Za-z0-9_.:-]{0,99}$' then
    raise exception using errcode = 'PS011', message = format('%L in stream %L: an event type and a stream are a letter, '
      'then letters, digits and _ . : -, at most 100', p_event_type, p_event_stream);
  end if;
  if penstock.keys_beyond(p_payload_contract, array['keep_refs', 'forbid_keys']) then
    raise exception using errcode = 'PS011', message = format('event type %s.%s: payload_contract is an object with keep_refs and '
      'forbid_keys, each a list of names', p_event_domain, p_event_type);
  end if;
  insert into penstock.event_type_registry (event_domain, event_type, event_stream, payload_contract, registered_by)
  values (p_event_domain, p_event_type, p_event_stream, p_payload_contract, v_actor)
  on conflict (event_domain, event_type) do update
    set event_stream = excluded.event_stream, payload_contract = excluded.payload_contract, registered_by = excluded.registered_by;
  perform penstock.event_stream_moved(p_event_domain, p_event_type, p_event_stream);
  perform penstock.sql_route_names_check(r) from penstock.iu_sql_event_route r
    where r.enabled and r.target_event_domain = p_event_domain and r.target_event_type = p_event_type order by r.route_code;
end
$$;
