-- subscription_moved: put a locked subscription into another state, and say so; with a caution, if there is one as it begins to be read.
--   p_to     ACTIVE, PAUSED, DRAINING or DEACTIVATED
--   returns  that state
--   writes   subscription, schedule, execution_event, event_outbox
create or replace function penstock.subscription_moved(p_path text, p_to text, p_actor penstock.actor_ref) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_from text;
begin
  select s.state into v_from from penstock.subscription s where s.path = p_path;
  update penstock.subscription s set state = p_to, moved_at = now() where s.path = p_path;
  perform penstock.subscription_schedule(p_path, p_actor);
  perform penstock.subscription_event(p_path,
    case when p_to = 'ACTIVE' and v_from = 'PAUSED' then 'resumed'
         else (jsonb_build_object('ACTIVE', 'activated', 'PAUSED', 'paused', 'DRAINING', 'draining', 'DEACTIVATED', 'deactivated'))
              ->> p_to end,
    p_actor, jsonb_build_object('from', v_from)
      || case when p_to = 'ACTIVE' then jsonb_strip_nulls(jsonb_build_object('caution', penstock.subscription_caution(p_path)))
              else '{}' end);
  return p_to;
end
$$;
