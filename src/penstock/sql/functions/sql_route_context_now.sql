-- sql_route_context_now: who writes, and because of what: the settings penstock.correlation_id, penstock.causation_event_id and
-- penstock.trace of the session, where it has set them. A setting that cannot be read is none.
create or replace function penstock.sql_route_context_now() returns penstock.sql_route_context
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now penstock.sql_route_context;
  v_cause text := current_setting('penstock.causation_event_id', true);
begin
  v_now.actor := case when penstock.actor_is_wellformed('role:' || penstock.caller()) then 'role:' || penstock.caller()
                      else 'system:sql_route' end;
  v_now.correlation_id := left(nullif(current_setting('penstock.correlation_id', true), ''), 2000);
  v_now.causation_event_id := case when v_cause ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then v_cause::uuid end;
  v_now.causation_depth := case when v_now.causation_event_id is null then 0
                                else penstock.causation_depth(v_now.causation_event_id) end;
  v_now.trace := left(nullif(current_setting('penstock.trace', true), ''), 2000);
  v_now.expires_at := now() + penstock.config_text('queue.once_key.ttl_s.event', '2592000')::bigint * interval '1 second';
  v_now.max_bytes := penstock.config_text('queue.safe_payload.max_bytes', '8192')::integer;
  return v_now;
end
$$;
