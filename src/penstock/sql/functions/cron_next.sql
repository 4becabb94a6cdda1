-- cron_next: the first minute after an instant that a cron line allows.
--   p_cron      minute hour day month weekday, or @hourly @daily @midnight @weekly @monthly @yearly @annually.
--               With a day and a weekday that both do not begin with *, either may match (Vixie's rule)
--   p_after     strictly after this
--   p_timezone  whose clocks the line means. A local time that a clock change skips comes at the end of the gap, once;
--               a local time that exists twice comes once, at the first
--   returns     the instant; refuses with PS008 a line that cannot be read or does not come within 5 years
create or replace function penstock.cron_next(p_cron text, p_after timestamptz, p_timezone text) returns timestamptz
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_fields text[] := regexp_split_to_array(btrim(case lower(btrim(p_cron))
    when '@hourly' then '0 * * * *'
    when '@daily' then '0 0 * * *' when '@midnight' then '0 0 * * *'
    when '@weekly' then '0 0 * * 0'
    when '@monthly' then '0 0 1 * *'
    when '@yearly' then '0 0 1 1 *' when '@annually' then '0 0 1 1 *'
    else p_cron end, E' \t'), '[ \t]+');
  v_minutes integer[];
  v_hours integer[];
  v_days integer[];
  v_months integer[];
  v_weekdays integer[];
  v_local timestamp := date_trunc('minute', p_after at time zone penstock.timezone_checked(p_timezone));
  v_until timestamp := v_local + interval '5 years';
  v_at timestamptz;
begin
  if cardinality(v_fields) is distinct from 5 or length(p_cron) > 1000 then
    raise exception using errcode = 'PS008',
      message = format('cron line %L: expected five fields (minute hour day month weekday)', left(p_cron, 100)),
      hint = 'Or one of @hourly @daily @midnight @weekly @monthly @yearly @annually; at most 1000 characters.';
  end if;
  if isfinite(p_after) is not true then
    raise exception using errcode = 'PS008', message = format('cron line %L: no run comes after %L', p_cron, p_after);
  end if;
  v_minutes := penstock.cron_field(v_fields[1], 0, 59, null);
  v_hours := penstock.cron_field(v_fields[2], 0, 23, null);
  v_days := penstock.cron_field(v_fields[3], 1, 31, null);
  v_months := penstock.cron_field(v_fields[4], 1, 12,
    array['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']);
  v_weekdays := penstock.cron_field(v_fields[5], 0, 6, array['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']);
  loop
    v_local := penstock.cron_local_next(v_local + interval '1 minute', v_until, v_minutes, v_hours, v_days, v_months,
                                        v_weekdays, v_fields[3] !~ '^\*' and v_fields[5] !~ '^\*');
    if v_local is null then
      raise exception using errcode = 'PS008',
        message = format('cron line %L does not come within 5 years after %s', p_cron, p_after),
        hint = 'Check day and month: 30 2 is a day that never is.';
    end if;
    v_at := penstock.local_instant(v_local, p_timezone);
    -- while an hour is repeated, what it already brought the first time lies before p_after
    exit when v_at > p_after;
  end loop;
  return v_at;
end
$$;
