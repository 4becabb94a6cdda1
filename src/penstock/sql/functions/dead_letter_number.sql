-- dead_letter_number: the number in a prefixed id of v_dead_letter.
--   p_id      job-<number>, ingest-<number>, event-<number> or route-<number>
--   p_origin  which of them it must be
--   returns   the number; refuses anything else with PS014
create or replace function penstock.dead_letter_number(p_id text, p_origin text) returns bigint
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if p_id is null or p_id !~ ('^' || p_origin || '-[0-9]{1,18}$') then
    raise exception using errcode = 'PS014', message = format('%L is not a dead letter', p_id),
      hint = 'An id looks like job-12, ingest-12, event-12 or route-12; penstock dlq list shows the open ones.';
  end if;
  return substr(p_id, length(p_origin) + 2)::bigint;
end
$$;
