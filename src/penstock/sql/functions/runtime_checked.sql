-- runtime_checked: refuse a runtime whose subscription is not there (PS017), or has been taken over (PS019).
--   p_held  the runtime's row
create or replace function penstock.runtime_checked(p_subscription text, p_held penstock.subscription_runtime, p_token bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if p_held.path is null then
    raise exception using errcode = 'PS017', message = format('subscription %s is not registered', coalesce(p_subscription, 'null')),
      hint = 'Register it: penstock subscription register FILE';
  end if;
  if p_held.token is distinct from p_token then
    raise exception using errcode = 'PS019',
      message = format('runtime %s of subscription %s has been replaced by runtime %s: nothing was changed',
                       coalesce(p_token::text, 'null'), p_held.path, coalesce(p_held.token::text, '?'));
  end if;
end
$$;
