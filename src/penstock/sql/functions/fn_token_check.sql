-- fn_token_check: whom a request speaks for that shows this token.
--   p_secret_sha256  of the secret that was shown
--   returns          actor, scopes, the paths `internal` is narrowed to (null: none), and whether it is live, expired or revoked;
--                    no row for a token or a secret that is not known
--   reads            api_token
--   Both sides are hashed with a number nobody knows before they are compared: how long that takes says nothing about the stored one.
create or replace function penstock.fn_token_check(p_token_id text, p_secret_sha256 bytea)
returns table (actor text, scopes text[], paths text[], state text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select v.actor::text, v.scopes, v.paths, v.state
    from penstock.api_token t join penstock.v_api_token v using (token_id)
   cross join (select uuid_send(gen_random_uuid()) offset 0) b(blind)
   where t.token_id = p_token_id and sha256(t.secret_sha256 || b.blind) = sha256(p_secret_sha256 || b.blind)
$$;
