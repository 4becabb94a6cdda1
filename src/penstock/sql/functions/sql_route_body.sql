-- sql_route_body: the body of a route's trigger function, made for the columns its table has now.
--   Live, it makes events with a plan that is kept; when a column has gone since, or has
--   another type, with a statement made anew. One that is not
--   fail_closed notes what it cannot do, and the writer goes on.
create or replace function penstock.sql_route_body(p_route penstock.iu_sql_event_route, p_table regclass) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_columns text[];
  v_types oid[];
  v_live text;
begin
  select coalesce(array_agg(a.attname::text order by a.attnum), '{}'), coalesce(array_agg(a.atttypid order by a.attnum), '{}')
    into v_columns, v_types
    from pg_attribute a where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
     and a.attname = any (penstock.sql_route_columns(p_route) || penstock.table_key(p_table));
  if not (p_route).enabled then
    return 'begin return null; end';
  elsif (p_route).dry_run then
    return format('declare v_events bigint; v_sample jsonb;
begin
  begin
    execute penstock.sql_route_dry(%1$L, tg_relid) into v_events, v_sample;
    perform penstock.sql_route_noted(%1$L, ''dry_run'', v_events, v_sample, null);
  exception when others then
    perform penstock.sql_route_noted(%1$L, ''refused'', 0, null, sqlerrm);
  end;
  return null;
end', (p_route).route_code);
  end if;
  v_live := format('
    v_actor := ''role:'' || penstock.caller();
    if %1$L or v_actor !~ ''^[!-~]{6,200}$'' or current_setting(''penstock.causation_event_id'', true) <> ''''
       or current_setting(''penstock.correlation_id'', true) <> '''' or current_setting(''penstock.trace'', true) <> '''' then
      v_now := penstock.sql_route_context_now(%1$L);
    else
      v_now.actor := v_actor;
      v_now.causation_depth := 0;
    end if;
    if now() >= %2$L::timestamptz then
      perform penstock.partition_ensure(''event_outbox'', now());
    end if;
    if (select count(*) filter (where a.atttypid = (%7$L::oid[])[array_position(%3$L::name[], a.attname)]) from pg_attribute a
         where a.attrelid = tg_relid and not a.attisdropped and a.attname = any (%3$L::name[])) = %4$s%8$s
       and tg_table_name = %9$L and tg_table_schema = %10$L then
      %5$s;
    else
      execute (select penstock.sql_route_statement(r, tg_relid, ''$1'') from penstock.iu_sql_event_route r
                where r.route_code = %6$L) using v_now;
    end if;
    get diagnostics v_count = row_count;
    if v_count > 0 and current_setting(''penstock.woken'', true) is distinct from pg_current_xact_id()::text then
      perform set_config(''penstock.woken'', pg_current_xact_id()::text, true);
      perform penstock.wake(array[''_outbox'']);
    end if;', cardinality(penstock.names_of((p_route).idempotency_policy -> 'key')) > 0,
    -- until then there is a partition, and nobody has to look
    to_char(date_trunc('month', now() at time zone 'UTC') + interval '1 month', 'YYYY-MM-DD 00:00:00+00'), v_columns,
    cardinality(v_columns), penstock.sql_route_statement(p_route, p_table, 'v_now'), (p_route).route_code, v_types,
    case when (p_route).source_filter is not null
      then ' and exists (select from pg_index i where i.indrelid = tg_relid and i.indisprimary)' end,
    (p_route).source_table, (p_route).source_schema);
  return 'declare v_now penstock.sql_route_context; v_actor text; v_count bigint;
begin' || case when (p_route).fail_closed then v_live else format('
  begin%s
  exception when others then
    perform penstock.sql_route_noted(%L, ''refused'', 0, null, sqlerrm);
  end;', v_live, (p_route).route_code) end || '
  return null;
end';
end
$$;
