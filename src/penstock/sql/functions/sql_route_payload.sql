-- sql_route_payload: an expression for the payload of a changed row: the columns of keep_refs and nothing else.
--   A plain value cannot hold a forbidden key, and a small one is never too large; whatever else is looked through, row by row.
create or replace function penstock.sql_route_payload(p_route penstock.iu_sql_event_route, p_table regclass) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_refs text[] := penstock.names_of((p_route).payload_contract -> 'keep_refs');
  v_pairs text;
  v_is_plain boolean;
begin
  if cardinality(v_refs) = 0 then
    return 'null::jsonb';
  end if;
  select string_agg(format('%L, %s', r, coalesce(penstock.sql_route_value(p_table, r, 'n'), 'null::text')), ', ' order by o)
    into v_pairs from unnest(v_refs) with ordinality u(r, o);
  -- what is not PostgreSQL's own is a text here
  select bool_and(t.typcategory in ('B', 'D', 'G', 'I', 'N', 'S', 'T', 'V') or t.oid = 'uuid'::regtype
                  or t.typtype <> 'd' and t.typnamespace <> 'pg_catalog'::regnamespace) into v_is_plain
    from pg_attribute a join pg_type t on t.oid = a.atttypid where a.attrelid = p_table and a.attname = any (v_refs);
  return format('penstock.sql_route_sized(jsonb_build_object(%s), %L, %s)', v_pairs, (p_route).route_code,
                case when coalesce(v_is_plain, true) then least(512, penstock.config_text('queue.safe_payload.max_bytes', '8192')::integer)
                     else -1 end);
end
$$;
