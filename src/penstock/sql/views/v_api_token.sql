-- v_api_token: the tokens of the HTTP API, without what would open anything.
create or replace view penstock.v_api_token as
select t.token_id, t.actor, t.scopes, t.paths, case when t.revoked_at is not null then 'revoked' when t.expires_at <= now() then 'expired'
         else 'live' end as state, t.note, t.created_by, t.created_at, t.expires_at, t.revoked_by, t.revoked_at
  from penstock.api_token t;
