-- fn_iu_route_deliver: deliver one attempt that is queued. What can be done in the database is done, and the attempt is sent; for
-- the rest the answer says what is to be sent, and fn_iu_route_sent follows.
--   p_lease_token  of the delivery job's claim: an executor delivers what it holds. An operator needs none
--   returns  {"status": "sent"} when it is done; {"status": "queued", "route_kind", "target", "idempotency_key", "event"} when the
--            caller has to send it; {"status": …} when it is neither any more
--   refuses  an unknown attempt (PS011), a route that is not live any more (PS027), a kind nobody handles (PS018)
--   writes   event_outbox, once_key, job, job_queue, iu_route_attempt, iu_route_dead_letter
--   locks    the attempt
create or replace function penstock.fn_iu_route_deliver(p_attempt_id bigint, p_lease_token bigint default null) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_attempt penstock.iu_route_attempt;
  v_route penstock.iu_outbound_route;
  v_event penstock.event_outbox;
begin
  select * into v_attempt from penstock.iu_route_attempt a where a.attempt_id = p_attempt_id for update;
  if v_attempt.attempt_id is null then
    raise exception using errcode = 'PS011', message = format('there is no attempt %s', p_attempt_id);
  elsif v_attempt.status <> 'queued' then
    return jsonb_build_object('status', v_attempt.status);
  elsif not penstock.route_attempt_held(v_attempt, p_lease_token) then
    raise exception using errcode = 'PS018', message = format('attempt %s is not yours to deliver: its job is not held under this token',
      p_attempt_id);
  end if;
  select * into v_route from penstock.iu_outbound_route r where r.route_code = v_attempt.route_code;
  if v_route.route_code is null or not v_route.enabled or v_route.dry_run or not penstock.fn_iu_core_routes_enabled()
     or not penstock.fn_iu_route_worker_enabled() then
    raise exception using errcode = 'PS027', message = format('outbound route %s is not live any more, or a gate is '
      'closed: nothing was sent', v_attempt.route_code),
      hint = format('Enable it and replay the dead letter: penstock dlq list --kind %s', v_attempt.route_code);
  end if;
  select * into v_event from penstock.event_outbox e where e.event_id = v_attempt.event_ref;
  if v_event.event_id is null then
    -- gone from the log: its dead letter has it whole
    select (jsonb_populate_record(null::penstock.event_outbox, d.event_snapshot)).* into v_event
      from penstock.iu_route_dead_letter d where d.idempotency_key = v_attempt.idempotency_key;
  end if;
  if v_event.event_id is null then
    raise exception using errcode = 'PS027', message = format('event %s is gone: its partition was dropped, and no dead letter has it',
      v_attempt.event_ref);
  end if;
  if v_route.route_kind = 'http' then
    return jsonb_build_object('status', 'queued', 'route_kind', v_route.route_kind, 'target', v_route.target,
      'idempotency_key', v_attempt.idempotency_key, 'event', penstock.event_told(v_event));
  end if;
  perform penstock.route_delivered(v_route, v_event, v_attempt.idempotency_key);
  perform penstock.route_sent(v_attempt);
  return jsonb_build_object('status', 'sent');
end
$$;
