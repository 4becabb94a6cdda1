-- timezone_checked: the time zone a schedule names, once it is known to exist.
--   p_timezone  a name such as Europe/Berlin. Offsets are refused: PostgreSQL reads UTC+2 the POSIX way, as two
--               hours west of Greenwich, and a schedule would run hours off without a word
--   returns     p_timezone; refuses with PS008
create or replace function penstock.timezone_checked(p_timezone text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_known boolean := false;
begin
  begin
    v_known := isfinite(now() at time zone p_timezone) and (
      p_timezone !~ '[0-9<]' or exists (select from pg_timezone_names z where lower(z.name) = lower(p_timezone)));
  exception when invalid_parameter_value then
    null;
  end;
  if v_known is not true then
    raise exception using errcode = 'PS008', message = format('there is no time zone %L', p_timezone),
      hint = 'Use a name such as UTC, Europe/Berlin or America/New_York; pg_timezone_names lists them.';
  end if;
  return p_timezone;
end
$$;
