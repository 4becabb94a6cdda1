-- v_execution_event: the audit trail, read from the facts. execution_event adds what no other row says.
-- Of a message's headers it names those that decided something, without their values: those are in ingest_message.
create or replace view penstock.v_execution_event as
select coalesce(j.execution_id, j.job_id) as execution_id, j.job_id, j.enqueued_at as happened_at, 'enqueued' as happening,
       j.actor::text as actor, null::smallint as attempt,
       jsonb_strip_nulls(jsonb_build_object(
         'kind', j.job_kind, 'replay_of', j.replay_of, 'causation_event_id', j.causation_event_id)) as detail
  from penstock.job j
union all
select coalesce(q.execution_id, q.job_id), q.job_id, q.started_at, 'started', 'agent:' || s.executor_id, q.attempt,
       jsonb_build_object('incarnation', q.leased_by, 'lease_token', q.lease_token)
  from penstock.job_queue q left join penstock.job_subscription s on s.subscription_id = q.rule
 where q.started_at is not null
union all
select coalesce(j.execution_id, o.job_id), o.job_id, o.started_at, 'started', null, o.attempt,
       jsonb_build_object('incarnation', o.leased_by, 'lease_token', o.lease_token)
  from penstock.job_outcome o left join penstock.job j on j.job_id = o.job_id and j.enqueued_at = o.enqueued_at
 where o.started_at is not null
union all
select coalesce(j.execution_id, o.job_id), o.job_id, o.finished_at,
       case o.status when 'retrying' then 'failed' when 'ready' then o.reason else o.status::text end, null, o.attempt,
       jsonb_strip_nulls(jsonb_build_object('reason', o.reason, 'error', o.error, 'incarnation', o.leased_by))
  from penstock.job_outcome o left join penstock.job j on j.job_id = o.job_id and j.enqueued_at = o.enqueued_at
union all
select w.execution_id, w.execution_id, w.finished_at, 'execution_' || w.status, null, null, null
  from penstock.job_workflow w where w.finished_at is not null
union all
select m.execution_id, m.execution_id, m.ingested_at, 'subscription.message.dispatched', 'system:ingest', null,
       jsonb_build_object('subscription', m.subscription, 'message_id', m.message_id, 'part', m.part, 'source_offset', m.source_offset)
  from penstock.ingest_message m
union all
select m.execution_id, m.execution_id, m.ingested_at, 'subscription.message.directives_applied', 'system:ingest', null,
       (select jsonb_object_agg(w.key, (
                 select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                          'header', x ->> 'header', 'controls', x ->> 'controls', 'reason', x ->> 'reason'))), '[]')
                   from json_array_elements(case when json_typeof(m.directives -> w.key) = 'array' then m.directives -> w.key end) x))
          from unnest(array['applied', 'ignored']) w(key))
  from penstock.ingest_message m where m.directives is not null
union all
select coalesce(e.execution_id, e.job_id), e.job_id, e.happened_at, e.happening, e.actor::text, null, e.detail
  from penstock.execution_event e;
