-- schedule_next: when a schedule runs next, after now().
--   p_cron, p_timezone  the line, or
--   p_every, p_planned  the interval, and a run of its grid: missed runs are left out, the grid stays
--   returns             the instant; refuses with PS008 as cron_next does
create or replace function penstock.schedule_next(p_cron text, p_every interval, p_timezone text, p_planned timestamptz)
returns timestamptz
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  -- seconds, because PostgreSQL adds days and months by the session's time zone
  v_every_s numeric := extract(epoch from p_every);
begin
  if p_cron is not null then
    return penstock.cron_next(p_cron, now(), p_timezone);
  end if;
  return p_planned + make_interval(
    secs => (v_every_s * (floor(extract(epoch from now() - p_planned) / v_every_s) + 1))::float8);
end
$$;
