-- routes_failed: one event that could not be routed at all: a failed attempt and a dead letter for each of its routes.
--   returns  how many
--   writes   iu_route_attempt, iu_route_dead_letter
create or replace function penstock.routes_failed(
  p_worker penstock.iu_route_worker_cursor, p_event penstock.event_outbox, p_message text, p_sqlstate text) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_made bigint[];
begin
  with made as (
    insert into penstock.iu_route_attempt (worker_name, route_code, route_kind, event_ref, status, idempotency_key, error, ended_at)
    select (p_worker).worker_name, (f.route).route_code, (f.route).route_kind, p_event.event_id, 'failed', f.idempotency_key,
           jsonb_build_object('message', p_message, 'sqlstate', p_sqlstate), now()
      from penstock.routes_for(p_worker, array[p_event]) f
    on conflict (idempotency_key, attempt_no) do nothing
    returning attempt_id)
  select array_agg(m.attempt_id) into v_made from made m;
  perform penstock.routes_bury(v_made, array[p_event], 'failed');
  return jsonb_build_object('failed', coalesce(cardinality(v_made), 0));
end
$$;
