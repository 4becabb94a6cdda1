-- schedule_run: ask for the job of one due schedule, once for all the runs it missed, and plan the next run.
--   p_schedule  a row the caller has locked
--   returns     whether a job was made; false when the planned run had its job already, or is a drain and one is alive:
--               what it does not read is for the next run
--   writes      once_key (in a scope that no caller's key is in), job, job_queue, lane_check, schedule
create or replace function penstock.schedule_run(p_schedule penstock.schedule) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_next timestamptz := penstock.schedule_next(p_schedule.cron, p_schedule.every, p_schedule.timezone, p_schedule.next_run_at);
  v_planned text := to_char(p_schedule.next_run_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
  v_request penstock.job_request := penstock.schedule_request(
    p_schedule.job, p_schedule.set_by, format('schedule:%s:%s', p_schedule.schedule_id, v_planned));
  v_job bigint;
begin
  -- the setter's rights were checked when it was set; whoever ticks now needs none
  perform penstock.job_target_known(v_request.executor, v_request.pool, v_request.event_domain);
  if v_request.kind like 'drain:%' then
    v_job := (select min(d.job_id) from penstock.drain_jobs(v_request.kind) d);
  end if;
  v_job := coalesce(v_job,
    penstock.once_take('schedule:' || p_schedule.schedule_id, v_planned, v_request.job_id::text, 'job')::bigint);
  if v_job = v_request.job_id then
    perform penstock.job_insert(array[v_request], p_checked => true);
  end if;
  update penstock.schedule s
     set next_run_at = v_next, last_run_at = now(), last_job_id = v_job, last_error = null
   where s.schedule_id = p_schedule.schedule_id;
  return v_job = v_request.job_id;
end
$$;
