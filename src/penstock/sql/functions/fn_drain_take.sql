-- fn_drain_take: these messages, which a step has polled, are this job's; but for those that are another result's.
--   p_job_id, p_token  the job and the token of its claim: only who holds it may
--   p_place            where they were polled: an alias, and the consumer, group or subscription there
--   p_messages         what names each of them there for ever; 1,000 at most
--   returns            those not to be worked on: kept, in the result of a step that has succeeded and owes their acknowledgement; held,
--                      by a step that may still succeed
--   refuses            with PS009 who does not hold the job
--   writes             once_key, for queue.once_key.ttl_s.job
--   locks              its job_queue row, shared; then the keys, in order
create or replace function penstock.fn_drain_take(p_job_id bigint, p_token bigint, p_place text, p_messages text[])
returns table (message text, standing text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_rules bigint[] := penstock.caller_rules();
  v_scope text := 'drain:' || p_place;
  v_ref text := p_job_id || ':' || p_token;
  v_expires timestamptz := now() + penstock.config_text('queue.once_key.ttl_s.job', '2592000')::bigint * interval '1 second';
begin
  if cardinality(p_messages) > 1000 or length(p_place) > 1000 or exists (select from unnest(p_messages) m where length(m) > 1000) then
    raise exception using errcode = 'PS011', message = 'at most 1,000 messages are taken at once; a name has 1,000 characters at most';
  end if;
  perform from penstock.job_queue q
   where q.job_id = p_job_id and q.lease_token = p_token and q.status = 'running' and (v_rules is null or q.rule = any (v_rules))
     for share;
  if not found then
    raise exception using errcode = 'PS009', message = format('job %s is not held under this token: it takes no messages', p_job_id);
  end if;
  insert into penstock.once_key (scope, key, ref, expires_at)
  select v_scope, m, v_ref, v_expires from (select distinct m from unnest(p_messages) m where m is not null) x order by m
  on conflict do nothing;
  perform from penstock.once_key k where k.scope = v_scope and k.key = any (p_messages) order by k.key for update;
  -- a NEW statement: whoever has them now took them before its snapshot. The token tells attempts apart: what one has polled and
  -- lost is in no result, though the next one succeeds
  return query
  with asked as (
    select k.key,
           case when k.ref = v_ref or k.expires_at <= now() then null
                when exists (select from penstock.job_outcome o
                              where o.job_id = h.job_id and o.lease_token = h.token and o.status = 'succeeded') then 'kept'
                when exists (select from penstock.job_queue q where q.job_id = h.job_id and q.lease_token = h.token) then 'held'
           end as stands
      from penstock.once_key k
     cross join lateral (select split_part(k.ref, ':', 1)::bigint as job_id, split_part(k.ref, ':', 2)::bigint as token) h
     where k.scope = v_scope and k.key = any (p_messages)
  ), taken as (
    update penstock.once_key k set ref = v_ref, expires_at = v_expires
      from asked a where k.scope = v_scope and k.key = a.key and a.stands is null and k.ref <> v_ref
  )
  select a.key, a.stands from asked a where a.stands is not null;
end
$$;
