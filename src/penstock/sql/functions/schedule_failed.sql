-- schedule_failed: write down why a due schedule brought no job, and plan its next run.
--   p_schedule  a row the caller has locked
--   p_sqlstate, p_message  what was raised. After a refusal the run is left out; after trouble of the server's own
--               (conflict, resources, locks, shutdown, disk) it stays due and the next tick tries again
--   writes      schedule
create or replace function penstock.schedule_failed(p_schedule penstock.schedule, p_sqlstate text, p_message text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_next timestamptz := p_schedule.next_run_at;
begin
  if left(p_sqlstate, 2) not in ('40', '53', '55', '57', '58') then
    begin
      v_next := penstock.schedule_next(p_schedule.cron, p_schedule.every, p_schedule.timezone, p_schedule.next_run_at);
    exception when others then
      v_next := now() + interval '1 minute';
    end;
  end if;
  update penstock.schedule s
     set next_run_at = v_next, last_error = left(format('%s: %s', p_sqlstate, p_message), 2000)
   where s.schedule_id = p_schedule.schedule_id;
end
$$;
