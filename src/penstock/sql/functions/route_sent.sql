-- route_sent: an attempt has arrived; a dead letter it was made of is resolved.
--   writes  iu_route_attempt, iu_route_dead_letter
create or replace function penstock.route_sent(p_attempt penstock.iu_route_attempt) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update penstock.iu_route_attempt a set status = 'sent', ended_at = now(), error = null where a.attempt_id = (p_attempt).attempt_id;
  update penstock.iu_route_dead_letter d
     set resolved_at = now(), resolved_by = 'system:route_worker', resolution = 'sent by attempt ' || (p_attempt).attempt_no
   where d.idempotency_key = (p_attempt).idempotency_key and d.resolved_at is null;
end
$$;
