-- sql_route_statement: the statement that makes events of a route's changed rows.
--   p_values  what it calls sql_route_context's values: a record's fields, or $1's
create or replace function penstock.sql_route_statement(p_route penstock.iu_sql_event_route, p_table regclass, p_values text) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when cardinality(penstock.names_of((p_route).idempotency_policy -> 'key')) = 0 then format(
    'insert into penstock.event_outbox (event_domain, event_type, event_stream, subject_table, subject_ref, payload, actor,
       correlation_id, causation_event_id, causation_depth, trace)
     select %s, r.subject_table, r.subject_ref, r.payload, %s from (%s) r', t.target, t.rest, t.rows)
  else format(
    'with made as materialized (select gen_random_uuid() as event_id, r.* from (%3$s) r),
     taken as (
       insert into penstock.once_key as k (scope, key, ref, expires_at)
       select %4$L, f.once_key, f.event_id::text, (%5$s).expires_at
         from (select distinct on (m.once_key collate "C") m.once_key, m.event_id from made m where m.once_key is not null
                order by m.once_key collate "C") f
       on conflict (scope, key) do update set ref = excluded.ref, expires_at = excluded.expires_at where k.expires_at <= now()
       returning k.ref)
     insert into penstock.event_outbox (event_domain, event_type, event_stream, subject_table, subject_ref, payload, actor,
       correlation_id, causation_event_id, causation_depth, trace, event_id)
     select %1$s, m.subject_table, m.subject_ref, m.payload, %2$s, m.event_id from made m
      where m.once_key is null or m.event_id::text in (select ref from taken)',
    t.target, t.rest, t.rows, 'event:' || (p_route).target_event_domain || '.' || (p_route).target_event_type, p_values) end
    from (select format('%L, %L, %L', (p_route).target_event_domain, (p_route).target_event_type, (p_route).target_event_stream) as target,
                 format('(%1$s).actor, (%1$s).correlation_id, (%1$s).causation_event_id, (%1$s).causation_depth, (%1$s).trace',
                        p_values) as rest,
                 penstock.sql_route_rows(p_route, p_table) as rows) t
$$;
