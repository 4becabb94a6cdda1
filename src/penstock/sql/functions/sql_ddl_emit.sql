-- sql_ddl_emit: one ddl route's events of what a command has touched, or a note of them.
--   writes  event_outbox, sql_event_route_note
create or replace function penstock.sql_ddl_emit(
  p_route penstock.iu_sql_event_route, p_objects jsonb, p_tag text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now penstock.sql_route_context;
  v_objects jsonb := (select jsonb_agg(o) from jsonb_array_elements(p_objects) o
                       where (p_route).source_schema is null or o ->> 'schema' = (p_route).source_schema);
begin
  if v_objects is null then
    return;
  elsif (p_route).dry_run then
    perform penstock.sql_route_noted((p_route).route_code, 'dry_run', jsonb_array_length(v_objects), v_objects, p_tag);
    return;
  end if;
  v_now := penstock.sql_route_context_now(false);
  perform penstock.partition_ensure('event_outbox', now());
  insert into penstock.event_outbox (event_domain, event_type, event_stream, subject_table, subject_ref, payload, actor,
    correlation_id, causation_event_id, causation_depth, trace)
  select (p_route).target_event_domain, (p_route).target_event_type, (p_route).target_event_stream, o ->> 'type',
         left(o ->> 'identity', 2000), jsonb_build_object('command', p_tag), v_now.actor, v_now.correlation_id,
         v_now.causation_event_id, v_now.causation_depth, v_now.trace from jsonb_array_elements(v_objects) o;
  perform penstock.wake(array['_outbox']);
end
$$;
