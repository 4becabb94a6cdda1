-- dead_letter_number: the number in a prefixed id of v_dead_letter.
--   p_id     job-<number>
--   returns  the number; refuses anything else with PS014
create or replace function penstock.dead_letter_number(p_id text) returns bigint
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if p_id is null or p_id !~ '^job-[0-9]{1,18}$' then
    raise exception using errcode = 'PS014', message = format('%L is not a dead letter', p_id),
      hint = 'An id looks like job-12; penstock dlq list shows the open ones.';
  end if;
  return substr(p_id, 5)::bigint;
end
$$;
