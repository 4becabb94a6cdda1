-- event_stream_moved: an event type belongs to this stream: rows that name the type with another one follow.
--   writes  consumer_registry, iu_outbound_route, event_subscription, iu_sql_event_route, and the triggers of these
create or replace function penstock.event_stream_moved(p_event_domain text, p_event_type text, p_event_stream text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_route text;
begin
  update penstock.consumer_registry c set event_stream = p_event_stream
   where c.event_domain = p_event_domain and c.event_type = p_event_type and c.event_stream <> p_event_stream;
  update penstock.iu_outbound_route r set event_stream = p_event_stream
   where r.event_domain = p_event_domain and r.event_type = p_event_type and r.event_stream <> p_event_stream;
  update penstock.event_subscription s set event_stream = p_event_stream
   where s.event_domain = p_event_domain and s.event_type = p_event_type and s.event_stream <> p_event_stream
     and not exists (select from penstock.event_subscription t
                      where t.recipient_ref = s.recipient_ref and t.event_domain = s.event_domain and t.event_type = s.event_type
                        and t.event_stream = p_event_stream and t.scope_subject_table is not distinct from s.scope_subject_table
                        and t.scope_filter = s.scope_filter);
  for v_route in
    update penstock.iu_sql_event_route r set target_event_stream = p_event_stream
     where r.target_event_domain = p_event_domain and r.target_event_type = p_event_type and r.target_event_stream <> p_event_stream
    returning r.route_code
  loop
    perform penstock.fn_sql_event_route_apply(v_route);
  end loop;
end
$$;
