-- fn_consumer_dispatch: make of one event what its consumers want of it, whatever the cursor says. Same keys: no second job.
--   returns  {"jobs", "dry_run", "duplicates", "failed"}; {"skipped": why} when switched off
--   refuses  an unknown event (PS011)
--   writes   as fn_consumer_dispatch_run, without the cursor
create or replace function penstock.fn_consumer_dispatch(p_event_id uuid) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
  v_event penstock.event_outbox;
begin
  if penstock.config_text('queue.consumer_dispatch.enabled', 'true') <> 'true' then
    return jsonb_build_object('skipped', 'queue.consumer_dispatch.enabled is not true');
  end if;
  select * into v_event from penstock.event_outbox e where e.event_id = p_event_id;
  if v_event.event_id is null then
    raise exception using errcode = 'PS011', message = format('there is no event %s', p_event_id);
  end if;
  return penstock.consumers_dispatch_apart(array[v_event]);
end
$$;
