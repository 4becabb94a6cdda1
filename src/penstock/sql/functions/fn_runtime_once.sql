-- fn_runtime_once: a call of a runtime, made once however often it is asked for: who asks again has the first one's answer.
--   p_request  the caller's own name for it, known for an hour
--   p_call     commit, positions or said: fn_ingest_commit, fn_ingest_position_set, fn_runtime_said
--   p_asked    what that takes, by its names without p_
--   returns    what that returns, {} where that is nothing
--   refuses    what that refuses; such a call was not made, and is not known
--   writes     once_key, and what that writes
--   locks      the runtime's row first, unless something is only said; then once_key
create or replace function penstock.fn_runtime_once(
  p_subscription text, p_runtime_token bigint, p_request uuid, p_call text, p_asked jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_scope text := 'call:' || p_subscription;
  v_key text := format('%s:%s:%s', p_runtime_token, p_call, p_request);
  v_answer jsonb := '{}';
begin
  if p_call <> 'said' then
    perform from penstock.subscription_runtime r where r.path = p_subscription for update;
  end if;
  insert into penstock.once_key (scope, key, ref, expires_at) values (v_scope, v_key, '{}', now() + interval '1 hour')
  on conflict (scope, key) do nothing;
  if not found then
    -- a NEW statement: only its snapshot is sure to see the row we collided with
    return (select k.ref::jsonb from penstock.once_key k where k.scope = v_scope and k.key = v_key);
  end if;
  if p_call = 'commit' then
    v_answer := penstock.fn_ingest_commit(p_subscription, p_runtime_token, p_asked -> 'positions', p_asked -> 'expected',
                                          coalesce((p_asked ->> 'lane')::int, 0));
  elsif p_call = 'positions' then
    perform penstock.fn_ingest_position_set(p_subscription, p_runtime_token, p_asked -> 'positions', p_asked ->> 'reason',
                                            p_asked -> 'detail');
  elsif p_call = 'said' then
    perform penstock.fn_runtime_said(p_subscription, p_runtime_token, p_asked ->> 'happening', p_asked -> 'detail');
  else
    raise exception using errcode = 'PS011', message = format('a runtime does not call %L', p_call);
  end if;
  update penstock.once_key k set ref = v_answer::text where k.scope = v_scope and k.key = v_key and v_answer <> '{}';
  return v_answer;
end
$$;
