-- cron_local_next: the first minute from p_from on that a cron line allows, on a clock that knows no time zone.
--   p_from, p_until                            full minutes; the search ends after p_until
--   p_minutes, p_hours, p_days, p_months, p_weekdays  what the line's fields hold, sorted
--   p_either_day                               a day needs to match p_days or p_weekdays, not both
--   returns                                    null when there is none
create or replace function penstock.cron_local_next(
  p_from timestamp, p_until timestamp, p_minutes integer[], p_hours integer[], p_days integer[], p_months integer[],
  p_weekdays integer[], p_either_day boolean) returns timestamp
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_at timestamp := p_from;
  v_by_day boolean;
  v_by_weekday boolean;
  v_hour integer;
  v_minute integer;
begin
  while v_at <= p_until loop
    if extract(month from v_at) <> all (p_months) then
      v_at := date_trunc('month', v_at) + interval '1 month';
      continue;
    end if;
    v_by_day := extract(day from v_at) = any (p_days);
    v_by_weekday := extract(dow from v_at) = any (p_weekdays);
    v_hour := (select min(h) from unnest(p_hours) h where h >= extract(hour from v_at));
    if v_hour is null or not (v_by_day and v_by_weekday or p_either_day and (v_by_day or v_by_weekday)) then
      v_at := date_trunc('day', v_at) + interval '1 day';
      continue;
    end if;
    v_at := greatest(v_at, date_trunc('day', v_at) + make_interval(hours => v_hour));
    v_minute := (select min(m) from unnest(p_minutes) m where m >= extract(minute from v_at));
    if v_minute is null then
      v_at := date_trunc('hour', v_at) + interval '1 hour';
      continue;
    end if;
    v_at := date_trunc('hour', v_at) + make_interval(mins => v_minute);
    return case when v_at <= p_until then v_at end;
  end loop;
  return null;
end
$$;
