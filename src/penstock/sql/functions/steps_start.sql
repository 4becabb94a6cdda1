-- steps_start: write jobs of workflows; the one way in for all but an execution's first.
--   p_starts  which steps; what they are asked for with comes from the stored graph and from the workflow's row
--   returns   how many were written: none for a workflow that is being cancelled
--   writes    job, job_queue, job_step, job_item; lanes as an enqueue does. Its first step is in the lane of the workflow's message
--   Of a workflow that is paused they are blocked. Its status is read here, in a new statement after the caller's locks.
create or replace function penstock.steps_start(p_starts penstock.step_start[]) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_lanes text[];
  v_count integer;
begin
  perform penstock.partition_ensure('job', now());
  with numbered as materialized (
    select s.*, coalesce(s.job_id, nextval('penstock.job_id_seq')) as id from unnest(p_starts) with ordinality s order by s.ordinality
  ), made as materialized (
    select n.*, w.priority, w.playbook_ref, w.subscription, w.correlation_id, w.causation_event_id, w.causation_depth, w.trace, w.actor,
           w.payload_ref, w.source, w.status = 'paused' as is_paused, p.step, p.executor, p.max_attempts,
           coalesce(case when p.is_start and n.visit = 1 and n.item = 0 then w.lane end, p.lane) as lane,
           case when n.item = -1 then 'tool:decide' else p.job_kind end as job_kind,
           coalesce(w.pool, p.pool, case when w.subscription is null then 'shared' else 'subscription' end) as pool,
           case when n.job_id is not null then w.source_ref
                when n.from_job is not null then 'penstock://result/' || n.from_job end as source_ref
      from numbered n
      join penstock.job_workflow w on w.execution_id = n.execution_id and w.status in ('running', 'paused')
      join penstock.playbook_step p on p.step_id = n.step_id
  ), jobs as (
    insert into penstock.job (
      job_id, enqueued_at, execution_id, step, playbook_ref, subscription, job_kind, executor, pool, lane, priority, process_after,
      max_attempts, source_ref, payload_ref, safe_payload, correlation_id, causation_event_id, causation_depth, trace, actor)
    select m.id, now(), m.execution_id, m.step, m.playbook_ref, m.subscription, m.job_kind, m.executor, m.pool, m.lane, m.priority,
           m.process_after, m.max_attempts, m.source_ref, m.payload_ref,
           case when m.visit > 1 or m.item <> 0
                then jsonb_strip_nulls(jsonb_build_object('visit', nullif(m.visit, 1), 'item', nullif(m.item, 0))) end,
           m.correlation_id, m.causation_event_id, m.causation_depth, m.trace, m.actor
      from made m
  ), queued as (
    insert into penstock.job_queue (
      job_id, enqueued_at, process_after, status, priority, max_attempts, executor, job_kind, pool, lane, source, execution_id, step_id,
      visit, item, hold)
    select m.id, now(), m.process_after,
           case when m.is_paused or m.hold is not null then 'blocked'::penstock.job_status when m.process_after > now() then 'scheduled'
                when m.lane is null then 'ready' else 'blocked' end,
           m.priority, m.max_attempts, m.executor, m.job_kind, m.pool, m.lane, m.source, m.execution_id, m.step_id, m.visit, m.item,
           coalesce(m.hold, case when m.is_paused then 'paused' end)
      from made m
  ), steps as (
    insert into penstock.job_step (execution_id, step_id, visit, item, job_id, enqueued_at, via)
    select m.execution_id, m.step_id, m.visit, m.item, m.id, now(), m.via from made m where m.item >= 0 and not coalesce(m.is_again, false)
  ), decides as (
    update penstock.job_step t set decider = m.id
      from made m where m.item = -1 and (t.execution_id, t.step_id, t.visit, t.item) = (m.execution_id, m.step_id, m.visit, 0)
  ), again as (
    update penstock.job_step t set job_id = m.id, enqueued_at = now(), decider = null
      from made m where m.is_again and (t.execution_id, t.step_id, t.visit, t.item) = (m.execution_id, m.step_id, m.visit, m.item)
  ), items as (
    insert into penstock.job_item (job_id, item) select m.id, m.value from made m where m.value is not null
  )
  select count(*), array_agg(distinct m.lane) filter (where m.lane is not null and m.hold is null and not m.is_paused)
    into v_count, v_lanes from made m;
  if v_lanes is not null then
    perform penstock.lanes_settle(v_lanes);
  end if;
  perform penstock.wake(array['']);
  return v_count;
end
$$;
