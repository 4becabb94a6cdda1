-- fn_iu_route_dead_letter_replay: try to deliver a dead-lettered event again, as a new attempt, by what its route says now.
--   returns  the attempt. Of a route that runs dry it is done, and the letter resolved; of a live one it is queued, and the letter
--            is resolved when it has arrived
--   refuses  an unknown or resolved letter, and one that is under way (PS014); a route that is gone or disabled (PS023)
--   writes   iu_route_attempt, iu_route_dead_letter, job, job_queue
--   locks    the letter
create or replace function penstock.fn_iu_route_dead_letter_replay(p_id bigint, p_actor text default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_letter penstock.iu_route_dead_letter := penstock.route_dead_letter_locked(p_id);
  v_event penstock.event_outbox := jsonb_populate_record(null::penstock.event_outbox, v_letter.event_snapshot);
  v_route penstock.iu_outbound_route;
  v_attempt bigint;
begin
  select * into v_route from penstock.iu_outbound_route r where r.route_code = v_letter.route_code;
  if v_route.route_code is null or not v_route.enabled or v_route.route_kind not in ('event', 'job', 'http', 'notify')
     or not penstock.fn_iu_core_routes_enabled() or not penstock.fn_iu_route_worker_enabled() then
    raise exception using errcode = 'PS023', message = format('event %s still cannot be delivered by route %s: %s', v_letter.event_ref,
      v_letter.route_code, case when v_route.route_code is null then 'it is gone' when not v_route.enabled then 'it is disabled'
        when v_route.route_kind not in ('event', 'job', 'http', 'notify') then format('nobody handles its kind, %s', v_route.route_kind)
        else 'a gate is closed' end);
  end if;
  insert into penstock.iu_route_attempt (
    worker_name, route_code, route_kind, event_ref, status, idempotency_key, attempt_no, job_id, ended_at)
  select v_letter.worker_name, v_route.route_code, v_route.route_kind, v_letter.event_ref,
         case when v_route.dry_run then 'dry_run' else 'queued' end, v_letter.idempotency_key,
         1 + coalesce((select max(a.attempt_no) from penstock.iu_route_attempt a where a.idempotency_key = v_letter.idempotency_key), 0),
         case when not v_route.dry_run then nextval('penstock.job_id_seq') end, case when v_route.dry_run then now() end
  returning attempt_id into v_attempt;
  perform penstock.routes_queue(array[v_attempt], array[v_event]);
  update penstock.iu_route_dead_letter d
     set replay_attempt_id = case when not v_route.dry_run then v_attempt end, resolved_at = case when v_route.dry_run then now() end,
         resolved_by = case when v_route.dry_run then v_actor end, resolution = case when v_route.dry_run then 'replayed as a dry run' end
   where d.dead_letter_id = p_id;
  return v_attempt;
end
$$;
