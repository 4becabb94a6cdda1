-- sql_route_context_now: who writes, and because of what: the settings penstock.correlation_id, penstock.causation_event_id and
-- penstock.trace of the session, where it has set them. A setting that cannot be read is none.
--   p_is_keyed  whether until when keys hold is wanted
create or replace function penstock.sql_route_context_now(p_is_keyed boolean) returns penstock.sql_route_context
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now penstock.sql_route_context;
  v_actor text := 'role:' || penstock.caller();
  v_cause text := current_setting('penstock.causation_event_id', true);
begin
  v_now.actor := case when penstock.actor_is_wellformed(v_actor) then v_actor else 'system:sql_route' end;
  v_now.correlation_id := left(nullif(current_setting('penstock.correlation_id', true), ''), 2000);
  v_now.trace := left(nullif(current_setting('penstock.trace', true), ''), 2000);
  v_now.causation_depth := 0;
  if v_cause ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    v_now.causation_event_id := v_cause::uuid;
    v_now.causation_depth := penstock.causation_depth(v_now.causation_event_id);
  end if;
  if p_is_keyed then
    v_now.expires_at := now() + penstock.config_text('queue.once_key.ttl_s.event', '2592000')::bigint * interval '1 second';
  end if;
  return v_now;
end
$$;
