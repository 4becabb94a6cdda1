-- runtime_checked: refuse a runtime whose subscription has been taken over (PS019).
--   p_held  the runtime's row, locked
create or replace function penstock.runtime_checked(p_held penstock.subscription_runtime, p_token bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if p_held.token is distinct from p_token then
    raise exception using errcode = 'PS019',
      message = format('runtime %s of subscription %s has been replaced by runtime %s: nothing was changed',
                       p_token, coalesce(p_held.path, '?'), coalesce(p_held.token::text, '?'));
  end if;
end
$$;
