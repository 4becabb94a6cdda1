-- execution_requests_check: refuse requests of which one has an unknown field, an unknown playbook, or an input that cannot be taken.
--   p_targets  the playbooks that are known
create or replace function penstock.execution_requests_check(p_requests jsonb, p_targets penstock.playbook_target[]) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_fields text[] := array['playbook', 'payload', 'idempotency_key', 'pool', 'trace', 'priority', 'process_after', 'correlation_id',
                           'actor'];
  v_max bigint := penstock.config_text('execution.input.max_bytes', '1048576')::bigint;
  v_bad jsonb;
begin
  select r into v_bad from jsonb_array_elements(p_requests) r
   where case when jsonb_typeof(r) = 'object' then r - v_fields <> '{}' else true end limit 1;
  if found then
    raise exception using errcode = 'PS011', message = case when jsonb_typeof(v_bad) <> 'object' then 'a request is no object'
      else format('unknown field %s', (select min(k) from jsonb_object_keys(v_bad - v_fields) k)) end;
  end if;
  select r into v_bad from jsonb_array_elements(p_requests) r
   where not exists (select from unnest(p_targets) t where t.path = r ->> 'playbook') limit 1;
  if found then
    raise exception using errcode = 'PS016', message = format('the playbook %s is not in the catalog', v_bad ->> 'playbook'),
      hint = 'penstock catalog list shows what is.';
  end if;
  select r -> 'payload' into v_bad from jsonb_array_elements(p_requests) r
   where r ? 'payload' and (jsonb_typeof(r -> 'payload') <> 'object' or octet_length((r -> 'payload')::text) > v_max) limit 1;
  if found then
    perform penstock.execution_input_check(v_bad);
  end if;
end
$$;
