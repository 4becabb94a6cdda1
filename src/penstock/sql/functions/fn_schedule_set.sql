-- fn_schedule_set: have the clock ask for a job again and again. Makes the schedule, or replaces what it says.
--   p_schedule_id  letters, digits and _ . / -, at most 100
--   p_job          a job object with the fields of fn_job_enqueue_many, without idempotency_key
--   p_cron         five-field line (cron_next), or
--   p_every        interval from 1 second to 1826 days, counted from now; a day of it is 24 hours
--   p_timezone     whose clocks p_cron means
--   p_enabled      false: it stays and does nothing; what it misses meanwhile is not caught up
--   p_actor        who asks; the jobs are asked for by the job's actor, else by this one
--   returns        the next run; it stays when p_cron, p_every and p_timezone are what they were
--   writes         schedule
create or replace function penstock.fn_schedule_set(
  p_schedule_id text, p_job jsonb, p_cron text default null, p_every interval default null,
  p_timezone text default 'UTC', p_enabled boolean default true, p_actor text default null) returns timestamptz
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_timezone text := penstock.timezone_checked(coalesce(p_timezone, 'UTC'));
  v_next timestamptz;
begin
  if p_schedule_id is null or p_schedule_id !~ '^[A-Za-z0-9][A-Za-z0-9_./-]{0,99}$' then
    raise exception using errcode = 'PS011', message = format('%L cannot be a schedule_id', p_schedule_id),
      hint = 'Use letters, digits and _ . / -, at most 100, beginning with a letter or digit.';
  end if;
  if num_nonnulls(p_cron, p_every) <> 1 then
    raise exception using errcode = 'PS011', message = format('schedule %s: give either p_cron or p_every', p_schedule_id);
  end if;
  if p_every is not null and (p_every not between interval '1 second' and interval '1826 days'
                              or extract(year from p_every) <> 0 or extract(month from p_every) <> 0) then
    raise exception using errcode = 'PS008',
      message = format('schedule %s: every %s is not between 1 second and 1826 days', p_schedule_id, p_every),
      hint = 'Months and years differ in length: use a cron line, such as 0 0 1 * *.';
  end if;
  perform penstock.job_request_check(array[penstock.schedule_request(p_job, v_actor, null)]);
  v_next := penstock.schedule_next(p_cron, p_every, v_timezone, now());

  insert into penstock.schedule as s (schedule_id, cron, every, timezone, job, enabled, next_run_at, set_by)
  values (p_schedule_id, p_cron, p_every, v_timezone, p_job, coalesce(p_enabled, true), v_next, v_actor)
  on conflict (schedule_id) do update set
    cron = excluded.cron, every = excluded.every, timezone = excluded.timezone, job = excluded.job,
    enabled = excluded.enabled, set_by = excluded.set_by, set_at = now(), last_error = null,
    next_run_at = case
      when (s.cron, s.every, s.timezone) is distinct from (excluded.cron, excluded.every, excluded.timezone)
        then excluded.next_run_at
      when excluded.enabled and not s.enabled and s.next_run_at <= now()
        then penstock.schedule_next(s.cron, s.every, s.timezone, s.next_run_at)
      else s.next_run_at end
  returning s.next_run_at into v_next;
  return v_next;
end
$$;
