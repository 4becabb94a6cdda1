-- sql_route_check: refuse a route that cannot be one (PS011), or would carry what no event carries (PS006).
create or replace function penstock.sql_route_check(p_route penstock.iu_sql_event_route) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_code text := (p_route).route_code;
  v_refs text[] := penstock.names_of((p_route).payload_contract -> 'keep_refs');
  v_fault text;
begin
  v_fault := case
    when coalesce(v_code, '') !~ '^[A-Za-z][A-Za-z0-9_.:-]{0,99}$' then
      'a route code is a letter, then letters, digits and _ . : -, at most 100'
    when coalesce((p_route).sql_event, '') not in ('insert', 'update', 'delete', 'truncate', 'call', 'ddl') then
      'sql_event is insert, update, delete, truncate, call or ddl'
    when (p_route).source_object_kind <> case (p_route).sql_event when 'call' then 'routine' when 'ddl' then 'database' else 'table' end
      then format('%s happens to a %s', (p_route).sql_event,
                  case (p_route).sql_event when 'call' then 'routine' when 'ddl' then 'database' else 'table' end)
    when penstock.keys_beyond((p_route).payload_contract, array['keep_refs', 'forbid_keys', 'subject']) then
      'payload_contract is an object with keep_refs, forbid_keys and subject, each a list of names'
    when penstock.keys_beyond((p_route).idempotency_policy, array['key']) then 'idempotency_policy is an object with key, a list of columns'
    when penstock.keys_beyond((p_route).source_filter, array['changed']) then 'source_filter is an object with changed, a list of columns'
    when (p_route).source_filter is not null and (p_route).sql_event <> 'update' then 'only an update can be filtered by what has changed'
    when (p_route).sql_event in ('truncate', 'ddl') and num_nonnulls((p_route).payload_contract, (p_route).idempotency_policy) > 0 then
      format('a %s has no rows: payload_contract and idempotency_policy say nothing about it', (p_route).sql_event)
    when cardinality(v_refs) > 40 then 'keep_refs has at most 40 columns: events carry a signal' end;
  if v_fault is not null then
    raise exception using errcode = 'PS011', message = format('SQL route %s: %s', v_code, v_fault);
  end if;
  perform penstock.sql_route_names_check(p_route);
  if (p_route).source_object_kind = 'table' then
    perform penstock.sql_route_table_check(p_route);
  elsif (p_route).source_object_kind = 'routine' then
    perform penstock.sql_route_routine(p_route);
  end if;
end
$$;
