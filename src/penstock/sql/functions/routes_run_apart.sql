-- routes_run_apart: routes_run for all events at once; when that fails, for each on its own, and what fails then is a dead letter.
--   returns  how many attempts there were of each status, and with "apart" why it was not all at once
create or replace function penstock.routes_run_apart(p_worker penstock.iu_route_worker_cursor, p_events penstock.event_outbox[])
returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_event penstock.event_outbox;
  v_why text;
  v_sum jsonb := '{}';
begin
  begin
    return penstock.routes_run(p_worker, p_events);
  exception when others then
    -- of the moment, or of one of them, which shows below
    if penstock.error_is_passing(sqlstate) or sqlstate = '55P03' then
      raise;
    end if;
    v_why := sqlerrm;
  end;
  foreach v_event in array p_events loop
    begin
      v_sum := penstock.counts_added(v_sum, penstock.routes_run(p_worker, array[v_event]));
    exception when others then
      if penstock.error_is_passing(sqlstate) then
        raise;
      end if;
      v_sum := penstock.counts_added(v_sum, penstock.routes_failed(p_worker, v_event, sqlerrm, sqlstate));
    end;
  end loop;
  return v_sum || jsonb_build_object('apart', v_why);
end
$$;
