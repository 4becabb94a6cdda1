-- cancelled_settle: jobs whose cancel was asked for while they were held, and whose holder has now let go, are cancelled.
--   p_job_ids, p_tokens  the jobs; others are left alone
--   p_rules              only jobs held under these rules; null for all
--   writes               job_queue, job_outcome; frees their lanes; their workflows are counted down
--   locks                job_workflow rows, without waiting: a job whose workflow somebody else holds now is settled when its lease
--                        ends; then job_queue rows by job_id
create or replace function penstock.cancelled_settle(p_job_ids bigint[], p_tokens bigint[], p_rules bigint[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_lanes text[];
  v_ends penstock.step_end[];
  v_wanted bigint[] := array(select distinct q.execution_id from penstock.job_queue q
                              where q.job_id = any (p_job_ids) and q.cancel_requested and q.execution_id is not null);
  v_free bigint[] := array(select w.execution_id from penstock.job_workflow w where w.execution_id = any (v_wanted)
                            order by w.execution_id for update skip locked);
begin
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  with held as materialized (
    select q.job_id
      from penstock.job_queue q join unnest(p_job_ids, p_tokens) x(job_id, token) on x.job_id = q.job_id and x.token = q.lease_token
     where q.job_id = any (p_job_ids) and q.cancel_requested and q.status in ('leased', 'running')
       and (p_rules is null or q.rule = any (p_rules)) and (q.execution_id is null or q.execution_id = any (v_free))
     order by q.job_id for update of q
  ), gone as (
    delete from penstock.job_queue q using held h where q.job_id = any (p_job_ids) and q.job_id = h.job_id
    returning q.*
  ), ended as (
    insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status, reason)
    select g.job_id, clock_timestamp(), g.lease_token, g.enqueued_at, g.started_at, g.leased_by, g.attempt, 'cancelled', 'cancelled'
      from gone g
  )
  select array_agg(g.lane) filter (where g.lane is not null),
         array_agg(row(g.execution_id, g.step_id, g.visit, g.item, g.job_id, case when w.status = 'cancelling' then 'gone' else 'stuck' end,
                       null, null)::penstock.step_end) filter (where g.execution_id is not null)
    into v_lanes, v_ends
    from gone g left join penstock.job_workflow w on w.execution_id = g.execution_id;
  if v_lanes is not null then
    perform penstock.lanes_advance(v_lanes);
  end if;
  if v_ends is not null then
    perform penstock.steps_end(v_ends);
  end if;
end
$$;
