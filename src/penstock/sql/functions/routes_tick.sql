-- routes_tick: what the clock drives of the route workers: attempts whose job has ended, and a pass of each worker.
--   returns  {"settled": …, "<worker>": its report}; one that fails stops no other, and is the "error"
create or replace function penstock.routes_tick() returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_report jsonb := jsonb_build_object('settled', penstock.routes_settle());
  v_name text;
  v_fault text;
begin
  for v_name in select w.worker_name from penstock.iu_route_worker_cursor w order by w.worker_name loop
    begin
      v_report := v_report || jsonb_build_object(v_name, penstock.fn_iu_route_worker_run(v_name));
    exception when others then
      v_fault := coalesce(v_fault, format('route worker %s: %s', v_name, sqlerrm));
    end;
  end loop;
  return case when v_fault is null then v_report else v_report || jsonb_build_object('error', v_fault) end;
end
$$;
