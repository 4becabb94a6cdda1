-- subscription_registered: a version of a subscription has come into the catalog.
--   The first one registers it. A later one is taken up by the runtime when it next renews its lease; the state stays.
--   refuses what could not be activated, with PS018, while the subscription is ACTIVE or PAUSED
--   writes  subscription, subscription_runtime, execution_event, event_outbox
create or replace function penstock.subscription_registered(p_path text, p_version integer, p_actor penstock.actor_ref) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_state text;
begin
  if p_version > 1 then
    update penstock.subscription s set version = p_version where s.path = p_path returning s.state into v_state;
    if v_state in ('ACTIVE', 'PAUSED') then
      perform penstock.subscription_activable(p_path);
    end if;
    perform penstock.subscription_schedule(p_path, p_actor);
    return;
  end if;
  insert into penstock.subscription (path, version) values (p_path, p_version);
  insert into penstock.subscription_runtime (path) values (p_path);
  perform penstock.subscription_event(p_path, 'registered', p_actor, jsonb_build_object('version', p_version));
end
$$;
