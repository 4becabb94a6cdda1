-- ingest_move: move the ledger, never backwards, and forget identities that the source cannot send again.
--   writes  ingest_position, once_key, subscription_runtime: from now on it has begun, even if no part has a position yet
create or replace function penstock.ingest_move(p_subscription text, p_positions jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into penstock.ingest_position as p (path, part, identity, next_offset, floor_offset)
  select p_subscription, x.key, x.value ->> 'identity', (x.value ->> 'next')::bigint, coalesce((x.value ->> 'floor')::bigint, -1)
    from jsonb_each(p_positions) x order by x.key
  on conflict (path, part) do update set next_offset = greatest(p.next_offset, excluded.next_offset),
    floor_offset = greatest(p.floor_offset, excluded.floor_offset), moved_at = now();
  delete from penstock.once_key k
   using jsonb_each(p_positions) x
   where k.scope = 'message:' || p_subscription and x.value ? 'floor'
     and k.key between format('%s:%s:', x.key, x.value ->> 'identity') || repeat('0', 20)
                   and format('%s:%s:', x.key, x.value ->> 'identity') || lpad(x.value ->> 'floor', 20, '0');
  update penstock.subscription_runtime r set begun = true where r.path = p_subscription and not r.begun;
end
$$;
