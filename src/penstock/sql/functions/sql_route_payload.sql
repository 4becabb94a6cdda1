-- sql_route_payload: an expression for the payload of a changed row: the columns of keep_refs and nothing else.
--   A plain value cannot hold a forbidden key, and a small one is never too large; whatever else is looked through, row by row.
create or replace function penstock.sql_route_payload(p_route penstock.iu_sql_event_route, p_table regclass, p_there text[]) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_refs text[] := penstock.names_of((p_route).payload_contract -> 'keep_refs');
  v_pairs text;
  v_is_plain boolean;
begin
  if cardinality(v_refs) = 0 then
    return 'null::jsonb';
  end if;
  select string_agg(format('%L, %s', r, case when r = any (p_there) then format('n.%I', r) else 'null::text' end), ', ' order by o)
    into v_pairs from unnest(v_refs) with ordinality u(r, o);
  select bool_and(t.typcategory in ('B', 'D', 'E', 'G', 'I', 'N', 'S', 'T', 'V') or t.oid = 'uuid'::regtype) into v_is_plain
    from pg_attribute a join pg_type t on t.oid = a.atttypid where a.attrelid = p_table and a.attname = any (v_refs);
  return format('penstock.sql_route_sized(jsonb_build_object(%s), %L, %s)', v_pairs, (p_route).route_code,
                case when coalesce(v_is_plain, true) then least(512, penstock.config_text('queue.safe_payload.max_bytes', '8192')::integer)
                     else -1 end);
end
$$;
