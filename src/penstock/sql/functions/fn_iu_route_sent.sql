-- fn_iu_route_sent: what fn_iu_route_deliver had the caller send has arrived.
--   p_lease_token  as for fn_iu_route_deliver
--   returns  whether it was queued until now, and the caller's to deliver
--   writes   iu_route_attempt, iu_route_dead_letter
create or replace function penstock.fn_iu_route_sent(p_attempt_id bigint, p_lease_token bigint default null) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_attempt penstock.iu_route_attempt;
begin
  select * into v_attempt from penstock.iu_route_attempt a
   where a.attempt_id = p_attempt_id and a.status = 'queued' for update;
  if v_attempt.attempt_id is null or not penstock.route_attempt_held(v_attempt, p_lease_token) then
    return false;
  end if;
  perform penstock.route_sent(v_attempt);
  return true;
end
$$;
