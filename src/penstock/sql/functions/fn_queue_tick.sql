-- fn_queue_tick: one pass of everything the clock drives. A worker calls it; so can cron, KEDA or a person.
--   returns  per part its report; {"skipped": …} while another tick runs
--   locks    one advisory lock, without waiting
create or replace function penstock.fn_queue_tick() returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_report jsonb := '{}';
  v_part text;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('penstock.tick', 0)) then
    return jsonb_build_object('skipped', 'another tick is running');
  end if;
  -- the outbox first, before anything gives this transaction a number: else its tick could not tell who is still open
  foreach v_part in array array['outbox', 'promote', 'awaiting', 'reap', 'silence', 'lanes', 'analyze', 'partitions', 'subscriptions',
                                'cursors', 'workflows', 'schedules', 'dispatch', 'routes', 'broadcasts', 'events_audit', 'events_sweep',
                                'once_keys', 'staging', 'history'] loop
    v_report := v_report || jsonb_build_object(v_part, penstock.tick_part(v_part));
  end loop;
  return v_report;
end
$$;
