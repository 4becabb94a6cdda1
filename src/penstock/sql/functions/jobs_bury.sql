-- jobs_bury: these jobs' last attempt has ended badly: into the dead letter, with everything needed to replay them.
--   p_job_ids  locked job_queue rows whose outcome is written
--   writes     job_queue, job_dead_letter; frees their lanes; steps of workflows go on as their on_error says
create or replace function penstock.jobs_bury(p_job_ids bigint[], p_reason text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_lanes text[];
  v_ends penstock.step_end[] := penstock.steps_failed(p_job_ids, p_reason);
begin
  insert into penstock.job_dead_letter (job_id, job_kind, reason, error, snapshot)
  select q.job_id, q.job_kind, case when o.error @> '{"permanent": true}' then 'permanent' else p_reason end, o.error,
         to_jsonb(j) || jsonb_build_object('attempt', q.attempt)
    from penstock.job_queue q
    join penstock.job j on j.job_id = q.job_id and j.enqueued_at = q.enqueued_at
    join penstock.job_outcome o on o.job_id = q.job_id and o.lease_token = q.lease_token
   where q.job_id = any (p_job_ids)
   order by q.job_id;
  with gone as (delete from penstock.job_queue q where q.job_id = any (p_job_ids) returning q.lane)
  select array_agg(g.lane) filter (where g.lane is not null) into v_lanes from gone g;
  if v_lanes is not null then
    perform penstock.lanes_advance(v_lanes);
  end if;
  if v_ends <> '{}' then
    perform penstock.failures_handled(v_ends);
    perform penstock.steps_end(v_ends);
  end if;
end
$$;
