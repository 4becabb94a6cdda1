-- schedules_run: ask for the jobs of the schedules that are due, oldest first.
--   p_limit  at most so many schedules
--   returns  {"enqueued": jobs made, "failed": schedules that brought none; their last_error says why}
--   writes   schedule, once_key, job, job_queue, lane_check
--   locks    schedule (skips what another tick holds), then as job_insert
create or replace function penstock.schedules_run(p_limit integer default 100) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_schedule penstock.schedule;
  v_enqueued integer := 0;
  v_failed integer := 0;
begin
  for v_schedule in
    select s.* from penstock.schedule s where s.enabled and s.next_run_at <= now()
     order by s.next_run_at limit coalesce(p_limit, 100) for update skip locked
  loop
    begin
      v_enqueued := v_enqueued + penstock.schedule_run(v_schedule)::integer;
    exception when others then
      perform penstock.schedule_failed(v_schedule, sqlstate, sqlerrm);
      v_failed := v_failed + 1;
    end;
  end loop;
  return jsonb_build_object('enqueued', v_enqueued, 'failed', v_failed);
end
$$;
