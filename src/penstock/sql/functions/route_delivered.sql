-- route_delivered: an event re-emitted elsewhere, made a job, or told to a channel. The same attempt twice does it once.
--   refuses  a kind nobody handles (PS018)
create or replace function penstock.route_delivered(p_route penstock.iu_outbound_route, p_event penstock.event_outbox, p_key text)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_target jsonb := (p_route).target;
  v_job penstock.job_request;
begin
  if (p_route).route_kind = 'event' then
    perform penstock.fn_iu_emit_event(v_target ->> 'event_domain', v_target ->> 'event_type', v_target ->> 'event_stream',
      (p_event).subject_table, (p_event).subject_ref, (p_event).payload, null, (p_event).correlation_id, (p_event).event_id, p_key,
      (p_event).trace);
  elsif (p_route).route_kind = 'job' then
    v_job := row(1, nextval('penstock.job_id_seq'), v_target ->> 'job_kind', p_key, coalesce(v_target ->> 'executor', 'PG_worker'),
      'event/' || (p_event).event_id, (p_event).subject_ref, v_target ->> 'payload_ref',
      jsonb_build_object('route', (p_route).route_code, 'event_type', (p_event).event_type),
      coalesce((v_target ->> 'priority')::integer, 0), null, (p_event).correlation_id, (p_event).event_id, 'system:route_worker',
      coalesce(v_target ->> 'pool', 'shared'), null, (p_event).event_domain, (p_event).trace, null, null, null, null,
      least((p_event).causation_depth + 1, 32767));
    perform penstock.job_insert(r, p_checked => true) from (select penstock.job_request_once(array[v_job])) o(r) where cardinality(r) > 0;
  elsif (p_route).route_kind = 'notify' then
    perform pg_notify(v_target ->> 'channel', (p_event).event_id::text);
  else
    raise exception using errcode = 'PS018', message = format('nobody handles routes of kind %s', (p_route).route_kind);
  end if;
end
$$;
