-- route_replay: fn_iu_route_dead_letter_replay, and the prefixed id of what it made.
create or replace function penstock.route_replay(p_dead_letter_id bigint, p_actor text) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_attempt bigint := penstock.fn_iu_route_dead_letter_replay(p_dead_letter_id, p_actor);
begin
  return (select coalesce('job-' || a.job_id, 'attempt-' || a.attempt_id) from penstock.iu_route_attempt a where a.attempt_id = v_attempt);
end
$$;
