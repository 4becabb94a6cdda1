-- staged_time: when a message was published, of a text or of microseconds since 1970, to the microsecond in any year.
--   In hours: as floating point, which intervals are multiplied in, holds all of theirs exactly.
create or replace function penstock.staged_time(p_time json) returns timestamptz
language sql stable
return case json_typeof(p_time)
  when 'number' then timestamptz '1970-01-01 00:00:00+00' + interval '1 hour' * ((p_time #>> '{}')::bigint / 3600000000)
                     + interval '1 microsecond' * ((p_time #>> '{}')::bigint % 3600000000)
  else (p_time #>> '{}')::timestamptz
end;
