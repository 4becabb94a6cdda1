-- route_dead_letter_locked: lock one open dead letter of a route that is not under way.
--   returns  its row; refuses any other with PS014
create or replace function penstock.route_dead_letter_locked(p_dead_letter_id bigint) returns penstock.iu_route_dead_letter
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_letter penstock.iu_route_dead_letter;
begin
  select * into v_letter from penstock.iu_route_dead_letter d where d.dead_letter_id = p_dead_letter_id for update;
  perform penstock.dead_letter_check('route-' || p_dead_letter_id, v_letter.dead_letter_id is not null, v_letter.resolution,
    v_letter.resolved_by, v_letter.resolved_at);
  if exists (select from penstock.iu_route_attempt a where a.attempt_id = v_letter.replay_attempt_id and a.status = 'queued') then
    raise exception using errcode = 'PS014', message = format('dead letter route-%s is being delivered again, by attempt %s',
      p_dead_letter_id, v_letter.replay_attempt_id);
  end if;
  return v_letter;
end
$$;
