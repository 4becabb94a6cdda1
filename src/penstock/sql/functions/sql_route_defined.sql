-- sql_route_defined: keep a route's definition; one that is new or differs starts disabled, as a dry run, without a review.
--   writes  iu_sql_event_route
create or replace function penstock.sql_route_defined(p_route penstock.iu_sql_event_route) returns void
language sql volatile set search_path = pg_catalog, pg_temp as $$
  insert into penstock.iu_sql_event_route as r (route_code, source_object_kind, source_schema, source_table, sql_event,
    target_event_domain, target_event_type, target_event_stream, fail_closed, idempotency_policy, payload_contract, source_filter, notes,
    registered_by)
  values ((p_route).route_code, (p_route).source_object_kind, (p_route).source_schema, (p_route).source_table, (p_route).sql_event,
          (p_route).target_event_domain, (p_route).target_event_type, (p_route).target_event_stream, (p_route).fail_closed,
          (p_route).idempotency_policy, (p_route).payload_contract, (p_route).source_filter, (p_route).notes, (p_route).registered_by)
  on conflict (route_code) do update set
    source_object_kind = excluded.source_object_kind, source_schema = excluded.source_schema, source_table = excluded.source_table,
    sql_event = excluded.sql_event, target_event_domain = excluded.target_event_domain, target_event_type = excluded.target_event_type,
    target_event_stream = excluded.target_event_stream, fail_closed = excluded.fail_closed,
    idempotency_policy = excluded.idempotency_policy, payload_contract = excluded.payload_contract,
    source_filter = excluded.source_filter, notes = excluded.notes, registered_by = excluded.registered_by, registered_at = now(),
    enabled = false, dry_run = true, reviewed_by = null, reviewed_at = null, live_at = null
  where (r.source_object_kind, r.source_schema, r.source_table, r.sql_event, r.target_event_domain, r.target_event_type,
         r.target_event_stream, r.fail_closed, r.idempotency_policy, r.payload_contract, r.source_filter)
    is distinct from (excluded.source_object_kind, excluded.source_schema, excluded.source_table, excluded.sql_event,
         excluded.target_event_domain, excluded.target_event_type, excluded.target_event_stream, excluded.fail_closed,
         excluded.idempotency_policy, excluded.payload_contract, excluded.source_filter)
$$;
