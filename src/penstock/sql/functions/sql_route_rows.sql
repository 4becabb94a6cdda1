-- sql_route_rows: a query for what a route makes of the changed rows: subject_table, subject_ref, payload and once_key.
--   p_table  as it is now; a column that is gone is null
--   It reads the transition tables changed and, with a filter, was.
create or replace function penstock.sql_route_rows(p_route penstock.iu_sql_event_route, p_table regclass) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_there text[] := array(select a.attname::text from pg_attribute a where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped);
  v_key text[] := penstock.table_key(p_table);
  v_subject text[] := penstock.names_of((p_route).payload_contract -> 'subject');
  v_once text[] := penstock.names_of((p_route).idempotency_policy -> 'key');
  -- as it is called now: it may have been renamed
  v_table text := (select format('%s.%s', s.nspname, c.relname) from pg_class c join pg_namespace s on s.oid = c.relnamespace
                    where c.oid = p_table);
begin
  if (p_route).sql_event = 'truncate' then
    return format('select %L::text as subject_table, null::text as subject_ref, null::jsonb as payload, null::text as once_key', v_table);
  end if;
  return format('select %L::text as subject_table, %s as subject_ref, %s as payload, %s as once_key from changed n%s', v_table,
    penstock.sql_route_joined(p_table, case when cardinality(v_subject) > 0 then v_subject else v_key end, v_there),
    penstock.sql_route_payload(p_route, p_table),
    -- a key with a column that is gone would make one event of many
    case when cardinality(v_once) > 0 and v_once <@ v_there then
      format('%L || md5(jsonb_build_array(%s)::text)', (p_route).route_code || ':', 
        (select string_agg(penstock.sql_route_value(p_table, c, 'n'), ', ' order by o) from unnest(v_once) with ordinality u(c, o)))
      else 'null::text' end,
    penstock.sql_route_filter(p_route, p_table));
end
$$;
