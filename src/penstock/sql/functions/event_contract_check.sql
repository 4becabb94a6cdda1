-- event_contract_check: refuse a payload that the contract of its event type does not allow (PS006): with keep_refs, other keys; with
-- forbid_keys, one of these at any depth.
--   p_what  names it in the message
create or replace function penstock.event_contract_check(p_event_domain text, p_event_type text, p_payload jsonb, p_what text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_contract jsonb;
  v_key text;
begin
  select r.payload_contract into v_contract from penstock.event_type_registry r
   where r.event_domain = p_event_domain and r.event_type = p_event_type;
  if v_contract is null or jsonb_typeof(p_payload) is distinct from 'object' then
    return;
  end if;
  if v_contract ? 'keep_refs' then
    select k into v_key from jsonb_object_keys(p_payload) k
     where k <> all (penstock.names_of(v_contract -> 'keep_refs')) order by k limit 1;
  end if;
  v_key := coalesce(v_key, penstock.key_found(p_payload, penstock.names_of(v_contract -> 'forbid_keys')));
  if v_key is not null then
    raise exception using errcode = 'PS006', message = format('%s holds the key %L, which the contract of %s.%s does not allow', p_what,
      v_key, p_event_domain, p_event_type), hint = format('The contract is %s.', v_contract);
  end if;
end
$$;
