-- routes_run: an attempt for each event and route, once, whatever the cursor says; a job for each that is to be delivered.
--   returns  how many attempts were made now, by status
--   writes   iu_route_attempt, iu_route_dead_letter, job, job_queue
create or replace function penstock.routes_run(p_worker penstock.iu_route_worker_cursor, p_events penstock.event_outbox[]) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_made bigint[];
begin
  with planned as materialized (
    select f.event, f.route, f.idempotency_key,
           case when (f.route).route_code is null then 'skipped' when not (f.route).enabled then 'disabled'
                when (f.route).dry_run then 'dry_run' when (f.route).route_kind in ('event', 'job', 'http', 'notify') then 'queued'
                else 'failed' end as status
      from penstock.routes_for(p_worker, p_events) f order by (f.event).tx_id, (f.event).seq),
  made as (
    insert into penstock.iu_route_attempt (worker_name, route_code, route_kind, event_ref, status, idempotency_key, job_id, error, ended_at)
    select (p_worker).worker_name, (p.route).route_code, (p.route).route_kind, (p.event).event_id, p.status, p.idempotency_key,
           case when p.status = 'queued' then nextval('penstock.job_id_seq') end,
           case when p.status = 'failed' then
             jsonb_build_object('message', format('nobody handles routes of kind %s', (p.route).route_kind)) end,
           case when p.status <> 'queued' then now() end
      from planned p
    on conflict (idempotency_key, attempt_no) do nothing
    returning attempt_id)
  select array_agg(m.attempt_id) into v_made from made m;
  perform penstock.routes_queue(v_made, p_events);
  perform penstock.routes_bury(v_made, p_events, 'unhandled_kind');
  return (select coalesce(jsonb_object_agg(s.status, s.n), '{}') from (
    select a.status, count(*) as n from penstock.iu_route_attempt a where a.attempt_id = any (v_made) group by a.status) s);
end
$$;
