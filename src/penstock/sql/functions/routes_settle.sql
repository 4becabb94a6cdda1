-- routes_settle: an attempt whose delivery job has died, or was cancelled, has failed: a dead letter, and the job's own one points to it.
--   returns  how many
--   writes   iu_route_attempt, iu_route_dead_letter, job_dead_letter
create or replace function penstock.routes_settle(p_limit integer default 1000) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_attempts bigint[];
begin
  with ended as materialized (
    select a.attempt_id, l.dead_letter_id, l.error
      from (select d.job_id, d.dead_letter_id, d.error from penstock.job_dead_letter d
             where d.resolved_at is null and d.job_kind = 'route_deliver'
            union all
            -- cancelled: of those that wait longest
            select q.job_id, null, null
              from (select o.job_id from penstock.iu_route_attempt o where o.status = 'queued' order by o.job_id limit p_limit) q
             where not exists (select from penstock.job_queue u where u.job_id = q.job_id)
               and not exists (select from penstock.job_dead_letter d where d.job_id = q.job_id and d.resolved_at is null)) l
      join penstock.iu_route_attempt a on a.job_id = l.job_id
     where a.status = 'queued' order by a.attempt_id limit p_limit for update of a skip locked),
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
    select coalesce(e, jsonb_populate_record(null::penstock.event_outbox,
                                             coalesce(d.event_snapshot, jsonb_build_object('event_id', a.event_ref))))
      from penstock.iu_route_attempt a
      left join penstock.event_outbox e on e.event_id = a.event_ref
      left join penstock.iu_route_dead_letter d on d.idempotency_key = a.idempotency_key
     where a.attempt_id = any (v_attempts)), 'not_delivered');
  return coalesce(cardinality(v_attempts), 0);
end
$$;
