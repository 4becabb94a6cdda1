-- consumers_dispatch_apart: consumers_dispatch for all events at once; when that fails, for each event and consumer on its own.
--   returns  the sums, and with "apart" why it was not all at once
--   writes   as consumers_dispatch; what fails on its own is a dead letter, also what waits for a lock that somebody keeps. Where
--            many wait because a whole table is locked it is the moment that is wrong, and nothing is done
create or replace function penstock.consumers_dispatch_apart(p_events penstock.event_outbox[]) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_event penstock.event_outbox;
  v_consumer penstock.consumer_registry;
  v_why text;
  v_locked integer := 0;
  v_one jsonb;
  v_sum jsonb := '{"jobs": 0, "dry_run": 0, "duplicates": 0, "failed": 0}';
begin
  begin
    return penstock.consumers_dispatch(p_events);
  exception when others then
    if penstock.error_is_passing(sqlstate) then
      raise;
    end if;
    -- whose fault it was shows below; if it shows nowhere, it was that of all together
    v_why := sqlerrm;
  end;
  perform set_config('lock_timeout', '100ms', true);
  foreach v_event in array p_events loop
    for v_consumer in
      select * from penstock.consumer_registry c
       where c.enabled and c.event_domain = v_event.event_domain and c.event_type = v_event.event_type
       order by c.consumer_id
    loop
      v_one := penstock.consumer_dispatch_one(v_event, v_consumer.consumer_id);
      v_sum := penstock.counts_added(v_sum, v_one);
      continue when not v_one ? 'locked';
      v_locked := v_locked + 1;
      if v_locked = 5 then
        -- the others have waited long enough
        perform set_config('lock_timeout', '1ms', true);
        if penstock.job_tables_locked() then
          raise exception using errcode = '55P03', message = 'somebody holds a lock on a whole table that jobs are written to';
        end if;
      end if;
    end loop;
  end loop;
  return v_sum - 'locked' || jsonb_build_object('apart', v_why);
end
$$;
