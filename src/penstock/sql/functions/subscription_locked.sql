-- subscription_locked: lock one subscription.
--   returns  its state; refuses an unknown one with PS017
create or replace function penstock.subscription_locked(p_path text) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_state text;
begin
  select s.state into v_state from penstock.subscription s where s.path = p_path for update;
  if v_state is null then
    raise exception using errcode = 'PS017', message = format('subscription %s is not registered', p_path),
      hint = 'Register it: penstock subscription register FILE';
  end if;
  return v_state;
end
$$;
