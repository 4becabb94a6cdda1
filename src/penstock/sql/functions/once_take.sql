-- once_take: take a key, or learn who has it.
--   p_scope, p_key  the key
--   p_ref           what it stands for if it is taken now
--   p_ttl           which of queue.once_key.ttl_s.<job|event|dedup|replay> says how long, or
--   p_until         until when
--   returns         the ref the key now stands for
--   locks           the key; waits for an open transaction that is taking it
create or replace function penstock.once_take(p_scope text, p_key text, p_ref text, p_ttl text, p_until timestamptz default null)
returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_ref text;
begin
  insert into penstock.once_key as k (scope, key, ref, expires_at)
  values (p_scope, p_key, p_ref,
          coalesce(p_until, now() + penstock.config_text('queue.once_key.ttl_s.' || p_ttl, '2592000')::bigint * interval '1 second'))
  on conflict (scope, key) do update set ref = excluded.ref, expires_at = excluded.expires_at where k.expires_at <= now()
  returning k.ref into v_ref;
  if v_ref is null then
    -- a NEW statement: only its snapshot is sure to see the row we collided with
    select k.ref into v_ref from penstock.once_key k where k.scope = p_scope and k.key = p_key;
  end if;
  return v_ref;
end
$$;
