-- routes_queue: the delivery jobs of queued attempts, with the ids their rows have.
--   writes  job, job_queue
create or replace function penstock.routes_queue(p_attempts bigint[], p_events penstock.event_outbox[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_jobs penstock.job_request[];
begin
  v_jobs := array(
    select row(row_number() over (order by a.attempt_id), a.job_id, 'route_deliver', null, 'PG_worker', 'event/' || e.event_id,
               e.subject_ref, null, jsonb_build_object('attempt', a.attempt_id, 'route', a.route_code), 0, null, e.correlation_id,
               e.event_id,
               'system:route_worker', 'shared', null, e.event_domain, e.trace, null, null, null, null,
               least(e.causation_depth + 1, 32767))::penstock.job_request
      from penstock.iu_route_attempt a join unnest(p_events) e on e.event_id = a.event_ref
     where a.attempt_id = any (p_attempts) and a.status = 'queued' order by a.attempt_id);
  if cardinality(v_jobs) > 0 then
    perform penstock.job_insert(v_jobs, p_checked => true);
  end if;
end
$$;
