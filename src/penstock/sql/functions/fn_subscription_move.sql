-- fn_subscription_move: move a subscription through its life.
--   p_action  activate | pause | resume | drain | deactivate
--   returns   the state it is in now; a repeated action changes nothing and is no new event
--   refuses   an illegal move with PS009, an unknown subscription with PS017
--   writes    subscription, schedule, execution_event, event_outbox
--   locks     the subscription's row
create or replace function penstock.fn_subscription_move(p_path text, p_action text, p_actor text default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_state text := penstock.subscription_locked(p_path);
  v_new text;
begin
  select m.to_state into v_new from penstock.subscription_moves() m where m.action = p_action and m.from_state = v_state;
  if v_new is null then
    raise exception using errcode = 'PS009', message = format('subscription %s is %s: it cannot %s', p_path, v_state, p_action),
      hint = (select 'Legal now: ' || string_agg(m.action, ', ' order by m.action) || '.'
                from penstock.subscription_moves() m where m.from_state = v_state and m.from_state <> m.to_state);
  end if;
  if v_new = v_state then
    return v_state;
  end if;
  if p_action in ('activate', 'resume') then
    perform penstock.subscription_activable(p_path);
  end if;
  return penstock.subscription_moved(p_path, v_new, v_actor);
end
$$;
