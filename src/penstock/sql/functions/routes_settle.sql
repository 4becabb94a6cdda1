-- routes_settle: an attempt whose delivery job has died, or was cancelled, has failed: a dead letter, and the job's own one points to it.
--   returns  how many
--   writes   iu_route_attempt, iu_route_dead_letter, job_dead_letter
create or replace function penstock.routes_settle(p_limit integer default 1000) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_attempts bigint[];
begin
  with ended as materialized (
    select a.attempt_id, l.dead_letter_id, l.reason, l.error from penstock.iu_route_attempt a
      left join penstock.job_dead_letter l on l.job_id = a.job_id and l.resolved_at is null
     where a.status = 'queued' and not exists (select from penstock.job_queue q where q.job_id = a.job_id)
     order by a.attempt_id limit p_limit for update of a skip locked),
  resolved as (
    update penstock.job_dead_letter d
       set resolved_at = now(), resolved_by = 'system:route_worker', resolution = 'kept as a dead letter of its route'
      from ended e where d.dead_letter_id = e.dead_letter_id),
  failed as (
    update penstock.iu_route_attempt a
       set status = 'failed', ended_at = now(), error = coalesce(e.error, '{"message": "its delivery job ended without sending it"}')
      from ended e where a.attempt_id = e.attempt_id
    returning a.attempt_id)
  select array_agg(f.attempt_id) into v_attempts from failed f;
  perform penstock.routes_bury(v_attempts, array(
    select e from penstock.iu_route_attempt a join penstock.event_outbox e on e.event_id = a.event_ref
     where a.attempt_id = any (v_attempts)), 'not_delivered');
  return coalesce(cardinality(v_attempts), 0);
end
$$;
