-- fn_token_revoke: a token opens nothing any more, from the next request on. It stays in the list.
--   p_actor  on whose behalf; null is the caller itself
--   returns  false when it was revoked before
--   writes   api_token
create or replace function penstock.fn_token_revoke(p_token_id text, p_actor text default null) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  update penstock.api_token t set revoked_at = clock_timestamp(), revoked_by = v_actor
   where t.token_id = p_token_id and t.revoked_at is null;
  if found then
    return true;
  end if;
  if not exists (select from penstock.api_token t where t.token_id = p_token_id) then
    raise exception using errcode = 'PS028', message = format('there is no token %s', coalesce(p_token_id, 'null')),
      hint = 'penstock token list shows those there are.';
  end if;
  return false;
end
$$;
