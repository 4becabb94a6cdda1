-- consumer_dispatch_one: one event to one consumer; whatever it raises is a dead letter, and stops nobody else.
--   returns  as consumers_dispatch
create or replace function penstock.consumer_dispatch_one(p_event penstock.event_outbox, p_consumer text) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return penstock.consumers_dispatch(array[p_event], p_consumer);
exception when others then
  if penstock.error_is_passing(sqlstate) then
    raise;
  end if;
  insert into penstock.consumer_dead_letter (consumer_id, event_id, reason, error, event_snapshot)
  values (p_consumer, p_event.event_id, case when sqlstate = '55P03' then 'locked' else 'failed' end,
          jsonb_build_object('message', sqlerrm, 'sqlstate', sqlstate), to_jsonb(p_event))
  on conflict (consumer_id, event_id) where resolved_at is null do nothing;
  return case when sqlstate = '55P03' then '{"failed": 1, "locked": 1}'::jsonb else '{"failed": 1}' end;
end
$$;
