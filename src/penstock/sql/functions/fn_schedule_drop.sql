-- fn_schedule_drop: forget a schedule. Jobs it has asked for stay.
--   p_schedule_id  which
--   p_actor        who asks
--   returns        false when there was none
--   writes         schedule
create or replace function penstock.fn_schedule_drop(p_schedule_id text, p_actor text default null) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform penstock.actor_checked(p_actor);
  delete from penstock.schedule s where s.schedule_id = p_schedule_id;
  return found;
end
$$;
