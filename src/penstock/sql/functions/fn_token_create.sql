-- fn_token_create: let whoever shows a secret use the HTTP API as an actor.
--   p_token_id       the token's name, 16 of a-z and 2-7
--   p_secret_sha256  of the secret; the secret itself never comes here
--   p_actor          for whom it speaks: role:, agency:, user: or agent:
--   p_scopes         what it opens: execute, events, internal, metrics
--   p_expires_at     null: until it is revoked
--   p_created_by     on whose behalf; null is the caller itself
--   p_paths          the subscriptions that `internal` opens, registered or not yet; null: every one
--   writes           api_token
create or replace function penstock.fn_token_create(
  p_token_id text, p_secret_sha256 bytea, p_actor text, p_scopes text[], p_expires_at timestamptz default null,
  p_note text default null, p_created_by text default null, p_paths text[] default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_by penstock.actor_ref := penstock.actor_checked(p_created_by);
  v_known text[] := array['execute', 'events', 'internal', 'metrics'];
  v_unknown text;
begin
  if p_actor is null or not penstock.actor_is_wellformed(p_actor) or p_actor ~ '^(consumer|system):' then
    raise exception using errcode = 'PS004', message = format('a token cannot speak for %L', p_actor),
      hint = 'An actor is role:, agency:, user: or agent: and a name without spaces.';
  end if;
  select s into v_unknown from unnest(p_scopes) s where s is null or s <> all (v_known) limit 1;
  if found or coalesce(cardinality(p_scopes), 0) = 0 then
    raise exception using errcode = 'PS011', message = case when found then format('there is no scope %L', v_unknown)
      else 'a token without a scope opens nothing' end, hint = 'Scopes are ' || array_to_string(v_known, ', ') || '.';
  end if;
  if p_paths is not null and (cardinality(p_paths) = 0 or 'internal' <> all (p_scopes)) then
    raise exception using errcode = 'PS011', message = 'paths narrow the scope internal, which this token lacks, or would open nothing',
      hint = 'Name the subscriptions a runtime may hold, together with the scope internal; without paths it opens all.';
  end if;
  select p into v_unknown from unnest(p_paths) p where p is null or p !~ '^[A-Za-z0-9][A-Za-z0-9_./-]{0,199}$' limit 1;
  if found then
    raise exception using errcode = 'PS011', message = format('%L is no path of a subscription', v_unknown);
  end if;
  if p_expires_at <= now() then
    raise exception using errcode = 'PS011', message = 'the token would have expired already';
  end if;
  if p_token_id is null or p_token_id !~ '^[a-z2-7]{16}$' or octet_length(p_secret_sha256) is distinct from 32 or length(p_note) > 500 then
    raise exception using errcode = 'PS011',
      message = 'a token has an id of 16 characters (a-z, 2-7), a hash of 32 bytes, and a note of at most 500 characters';
  end if;
  insert into penstock.api_token (token_id, secret_sha256, actor, scopes, paths, note, created_by, expires_at)
  values (p_token_id, p_secret_sha256, p_actor, array(select distinct s from unnest(p_scopes) s order by s),
          (select array_agg(distinct p order by p) from unnest(p_paths) p), p_note, v_by, p_expires_at);
exception when unique_violation then
  raise exception using errcode = 'PS011', message = format('there is a token %s already', p_token_id);
end
$$;
