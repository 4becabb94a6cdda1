-- fn_ingest_position_set: put the ledger somewhere else, because the source has changed under it, and say so.
--   p_positions  {part: {"identity": …, "next": …}}; parts that are not named are forgotten
--   p_reason     made_again, removed_by_retention, source_went_back, vanished, acknowledged_beyond_the_ledger
--   p_detail     which range of which part is lost or read again
--   Of a part that is still the same one, offsets from `next` on will mean other messages: their identities are forgotten.
--   writes       ingest_position, once_key, execution_event, event_outbox
--   locks        the runtime's row
create or replace function penstock.fn_ingest_position_set(
  p_subscription text, p_runtime_token bigint, p_positions jsonb, p_reason text, p_detail jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_held penstock.subscription_runtime;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription for update;
  perform penstock.runtime_checked(p_subscription, v_held, p_runtime_token);
  delete from penstock.ingest_position p
   where p.path = p_subscription and not coalesce(p_positions #>> array[p.part, 'identity'] = p.identity, false);
  insert into penstock.ingest_position as p (path, part, identity, next_offset)
  select p_subscription, x.key, x.value ->> 'identity', (x.value ->> 'next')::bigint from jsonb_each(p_positions) x
  on conflict (path, part) do update set next_offset = excluded.next_offset,
    floor_offset = least(p.floor_offset, excluded.next_offset - 1), moved_at = now();
  delete from penstock.once_key k
   using jsonb_each(p_positions) x
   where k.scope = 'message:' || p_subscription
     and k.key between format('%s:%s:', x.key, x.value ->> 'identity') || lpad(x.value ->> 'next', 20, '0')
                   and format('%s:%s:', x.key, x.value ->> 'identity') || repeat('9', 20);
  perform penstock.subscription_event(p_subscription, 'data_loss', 'system:runtime', p_detail || jsonb_build_object('reason', p_reason));
end
$$;
