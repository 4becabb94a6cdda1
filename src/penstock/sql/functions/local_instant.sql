-- local_instant: the first instant at which the clocks of a time zone show a local time, or have jumped past it.
--   p_local, p_timezone  a full minute there
--   returns  for a time that exists twice, the first; for one in the gap of a jump forward, the end of the gap
create or replace function penstock.local_instant(p_local timestamp, p_timezone text) returns timestamptz
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  -- PostgreSQL reads a time in a gap with the offset before the jump, and a time that exists twice as the second
  v_at timestamptz := p_local at time zone p_timezone;
  v_jump_s numeric := extract(epoch from (v_at at time zone p_timezone) - p_local);
  v_day_before timestamptz := v_at - interval '24 hours';
  v_earlier timestamptz;
begin
  if v_jump_s <> 0 then
    return (select min(m) from generate_series(v_at - make_interval(secs => v_jump_s::float8), v_at, interval '1 minute') m
             where m at time zone p_timezone > p_local);
  end if;
  v_earlier := (p_local - ((v_day_before at time zone p_timezone) - (v_day_before at time zone 'UTC'))) at time zone 'UTC';
  if v_earlier < v_at and v_earlier at time zone p_timezone = p_local then
    return v_earlier;
  end if;
  return v_at;
end
$$;
