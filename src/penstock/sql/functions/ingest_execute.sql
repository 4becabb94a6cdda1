-- ingest_execute: every staged row without a verdict becomes an execution: its message, its job, its place in the queue.
--   A message's own lane, if it has one, goes before its playbook's.
--   writes  ingest_message, job, job_queue; of playbooks of several steps also job_workflow, job_step
create or replace function penstock.ingest_execute(
  p_subscription text, p_version integer, p_stage text, p_attempts text[], p_content jsonb, p_verdicts penstock.ingest_verdict[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_targets penstock.playbook_target[] := penstock.playbook_targets(array(select penstock.catalog_playbooks('Subscription', p_content)));
  v_playbook text := p_content #>> '{spec,dispatch,playbook}';
  v_pool text := p_content #>> '{spec,dispatch,execution_pool}';
  v_source bigint := (select s.subscription_id from penstock.subscription s where s.path = p_subscription
                         and coalesce(p_content #> '{spec,limits,max_in_flight}', p_content #> '{spec,runtime,max_in_flight}') is not null);
  -- of the column's own type: a text would be checked against it row by row
  v_actor penstock.actor_ref := 'system:ingest';
  v_lanes text[];
  v_rows text := format('penstock.%I s join unnest($2) t on t.path = coalesce(s.playbook, $3) '
    'where s.attempt = any ($1) and not exists (select from unnest($4) v where v.job_id = s.job_id)', p_stage);
begin
  perform penstock.partition_ensure('ingest_message', now());
  perform penstock.partition_ensure('job', now());
  execute 'insert into penstock.ingest_message (
      execution_id, ingested_at, subscription, version, message_id, part, source_offset, published_at, message_key, body, attributes,
      directives, delivery_attempt)
    select s.job_id, now(), $5, $6, s.message_id, s.part, s.source_offset, s.published_at, s.message_key, s.body, s.attributes::json,
           s.directives::json, s.delivery_attempt from ' || v_rows
    using p_attempts, v_targets, v_playbook, p_verdicts, p_subscription, p_version;
  if exists (select from unnest(v_targets) t where not t.is_single) then
    execute 'with begun as (
        insert into penstock.job_workflow (
          execution_id, started_at, playbook_ref, subscription, open, priority, pool, source_ref, payload_ref, trace, actor,
          idempotency_key, source, lane)
        select s.job_id, now(), t.ref, $5, 1, 0, coalesce(s.pool, $6), s.message_id, ''penstock://message/'' || s.job_id, s.trace, $7,
               s.dedup_key, $8, s.lane from ' || v_rows || ' and not t.is_single)
      insert into penstock.job_step (execution_id, step_id, visit, item, job_id, enqueued_at)
      select s.job_id, t.step_id, 1, 0, s.job_id, now() from ' || v_rows || ' and not t.is_single'
      using p_attempts, v_targets, v_playbook, p_verdicts, p_subscription, v_pool, v_actor, v_source;
  end if;
  execute 'insert into penstock.job (
      job_id, enqueued_at, execution_id, step, playbook_ref, subscription, job_kind,
      executor, pool, lane, priority, max_attempts, idempotency_key,
      source_ref, payload_ref, trace, actor)
    select s.job_id, now(), case when not t.is_single then s.job_id end, case when not t.is_single then t.step end, t.ref, $5, t.job_kind,
           t.executor, coalesce(s.pool, $6, t.pool, ''subscription''), coalesce(s.lane, t.lane), 0,
           t.max_attempts, s.dedup_key, s.message_id,
           ''penstock://message/'' || s.job_id, s.trace, $7 from ' || v_rows
    using p_attempts, v_targets, v_playbook, p_verdicts, p_subscription, v_pool, v_actor;
  -- the lane's jobs wait for their turn; a subscription whose playbooks have no lane has none of them
  execute 'insert into penstock.job_queue (
      job_id, enqueued_at, status, priority, max_attempts, executor, job_kind, pool, lane, source, step_id, execution_id, visit, item)
    select s.job_id, now(), case when coalesce(s.lane, t.lane) is null then ''ready''::penstock.job_status else ''blocked'' end,
           0, t.max_attempts, t.executor, t.job_kind, coalesce(s.pool, $6, t.pool, ''subscription''), coalesce(s.lane, t.lane),
           $7, t.step_id,
           case when not t.is_single then s.job_id end, case when not t.is_single then 1 end, case when not t.is_single then 0 end from '
    || v_rows
    using p_attempts, v_targets, v_playbook, p_verdicts, p_subscription, v_pool, v_source;
  v_lanes := array(select distinct t.lane from unnest(v_targets) t where t.lane is not null);
  if p_content #> '{spec,lanes}' is not null then
    execute 'select array(select distinct coalesce(s.lane, t.lane) from ' || v_rows || ' and coalesce(s.lane, t.lane) is not null)'
      into v_lanes using p_attempts, v_targets, v_playbook, p_verdicts;
  end if;
  perform penstock.lanes_settle(v_lanes);
  perform penstock.wake(array['']);
end
$$;
