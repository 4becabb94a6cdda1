-- routes_tick: what the clock drives of the route workers: attempts whose job has ended, and a pass of each worker.
--   returns  {"settled": …, "<worker>": its report}
create or replace function penstock.routes_tick() returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_report jsonb := jsonb_build_object('settled', penstock.routes_settle());
  v_name text;
begin
  for v_name in select w.worker_name from penstock.iu_route_worker_cursor w order by w.worker_name loop
    v_report := v_report || jsonb_build_object(v_name, penstock.fn_iu_route_worker_run(v_name));
  end loop;
  return v_report;
end
$$;
