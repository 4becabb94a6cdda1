-- consumers_unlocked: try again what became a dead letter because an open transaction held what its job needed.
--   returns  how many are jobs now
--   writes   as consumer_replay
create or replace function penstock.consumers_unlocked(p_limit integer default 500) returns integer
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '50ms' as $$
declare
  v_letter bigint;
  v_count integer := 0;
  v_still integer := 0;
begin
  for v_letter in
    select d.dead_letter_id from penstock.consumer_dead_letter d where d.resolved_at is null and d.reason = 'locked'
     order by d.dead_letter_id limit p_limit for update skip locked
  loop
    begin
      perform penstock.consumer_replay(v_letter, 'system:queue_tick');
      v_count := v_count + 1;
    exception when others then
      -- then its letter stays open, as it was
      if penstock.error_is_passing(sqlstate) then
        raise;
      end if;
      v_still := v_still + 1;
    end;
    -- they will be there at the next tick, too
    exit when v_still = 5;
  end loop;
  return v_count;
end
$$;
