-- fn_runtime_lease: take a subscription, or go on holding it. One runtime per subscription.
--   p_incarnation  the process
--   p_token        null: take it. Else renew: refused with PS019 once somebody else has taken it. An older one of the same process
--                  is good: the answer of its last take was lost, and this one has the newer token
--   p_backlog      how many messages wait at the source; null when it does not know
--   returns        the token every commit shows, until when, the subscription's state, the version (when taken, the one commits are judged
--                  by; when renewed, the newest), the ledger, its name, whether it was ever moved (`begun`), and all its commits so far
--                  with the newest batches one by one: under the runtime's lock, so the difference of two renewals is the holder's own
--   refuses        a subscription that another runtime holds, with PS020
--   writes         subscription_runtime
--   locks          the runtime's row
create or replace function penstock.fn_runtime_lease(
  p_subscription text, p_incarnation uuid, p_token bigint default null, p_backlog bigint default null)
returns table (token bigint, lease_until timestamptz, state text, version integer, positions jsonb, counts jsonb)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_held penstock.subscription_runtime;
  v_rolls boolean;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription for update;
  if v_held.path is null then
    raise exception using errcode = 'PS017', message = format('subscription %s is not registered', p_subscription),
      hint = 'Register it: penstock subscription register FILE';
  end if;
  if p_token is not null then
    if v_held.incarnation is distinct from p_incarnation or v_held.token < p_token then
      perform penstock.runtime_checked(p_subscription, v_held, p_token);
    end if;
  elsif v_held.lease_until > clock_timestamp() and v_held.incarnation is distinct from p_incarnation then
    raise exception using errcode = 'PS020', message = format('subscription %s is held by another runtime until %s', p_subscription,
      to_char(v_held.lease_until at time zone 'UTC', 'HH24:MI:SS "UTC"')),
      hint = 'One runtime reads a subscription. Stop the other one; its place is free when its lease has ended.';
  end if;
  v_rolls := v_held.rate_next < clock_timestamp() - interval '30 seconds';
  update penstock.subscription_runtime r
     set token = case when p_token is null then nextval('penstock.runtime_token_seq') else r.token end, incarnation = p_incarnation,
         lease_until = penstock.runtime_until(),
         version = case when p_token is null then (select s.version from penstock.subscription s where s.path = r.path) else r.version end,
         started_at = case when p_token is null then clock_timestamp() else r.started_at end,
         rate_since = case when p_token is null then clock_timestamp() when v_rolls then r.rate_next else r.rate_since end,
         rate_received = case when p_token is null then r.received when v_rolls then r.rate_next_received else r.rate_received end,
         rate_next = case when p_token is null or v_rolls then clock_timestamp() else r.rate_next end,
         rate_next_received = case when p_token is null or v_rolls then r.received else r.rate_next_received end,
         backlog = coalesce(p_backlog, r.backlog), backlog_at = case when p_backlog is null then r.backlog_at else clock_timestamp() end,
         backlog_since = case when p_backlog is null then r.backlog_since
                              when p_backlog > 0 then coalesce(r.backlog_since, clock_timestamp()) end,
         is_stalled = r.is_stalled and p_backlog is distinct from 0
   where r.path = p_subscription;
  return query
    select r.token, r.lease_until, s.state, case when p_token is null then r.version else s.version end,
           coalesce((select jsonb_object_agg(p.part, jsonb_build_object('identity', p.identity, 'next', p.next_offset,
                                                                 'floor', p.floor_offset))
                       from penstock.ingest_position p where p.path = s.path), '{}'),
           jsonb_build_object('executions', r.executions, 'deduplicated', r.deduplicated, 'dead_lettered', r.dead_lettered,
             'replays', r.replays, 'batches', r.batches, 'recent', r.recent, 'backlog', r.backlog,
             'last_commit_s', extract(epoch from r.last_commit_at), 'begun', r.begun, 'ledger', r.ledger)
      from penstock.subscription_runtime r join penstock.subscription s using (path) where r.path = p_subscription;
end
$$;
