-- v_dead_letter: every dead letter in one, ids prefixed by what died. A read by origin and number uses an index.
-- Of a message it says where it stood, not what it held: its headers are in ingest_dead_letter. Of an event it says which one.
create or replace view penstock.v_dead_letter as
select 'job-' || d.dead_letter_id as id, 'job' as origin, d.job_id, d.job_kind as what, d.reason, d.error, d.snapshot, d.dead_at,
       d.resolved_at, d.resolved_by::text as resolved_by, d.resolution, d.replay_job_id, d.dead_letter_id as number
  from penstock.job_dead_letter d
union all
select 'ingest-' || d.dead_letter_id, 'ingest', null, d.subscription, d.reason, d.error,
       jsonb_build_object('subscription', d.subscription, 'message_id', d.message_id, 'part', d.part, 'source_offset', d.source_offset,
         'published_at', d.published_at, 'body_bytes', octet_length(d.body), 'playbook', d.playbook, 'pool', d.pool), d.dead_at,
       d.resolved_at, d.resolved_by::text, d.resolution, d.replay_execution_id, d.dead_letter_id
  from penstock.ingest_dead_letter d
union all
select 'event-' || d.dead_letter_id, 'event', null, d.consumer_id, d.reason, d.error,
       jsonb_build_object('event_id', d.event_snapshot -> 'event_id', 'event_domain', d.event_snapshot -> 'event_domain',
         'event_type', d.event_snapshot -> 'event_type', 'created_at', d.event_snapshot -> 'created_at'), d.dead_at,
       d.resolved_at, d.resolved_by::text, d.resolution, d.replay_job_id, d.dead_letter_id
  from penstock.consumer_dead_letter d
union all
select 'route-' || d.dead_letter_id, 'route', a.job_id, d.route_code, d.reason, d.error,
       jsonb_build_object('event_id', d.event_snapshot -> 'event_id', 'event_domain', d.event_snapshot -> 'event_domain',
         'event_type', d.event_snapshot -> 'event_type', 'created_at', d.event_snapshot -> 'created_at'), d.dead_at,
       d.resolved_at, d.resolved_by::text, d.resolution, a.job_id, d.dead_letter_id
  from penstock.iu_route_dead_letter d left join penstock.iu_route_attempt a on a.attempt_id = d.replay_attempt_id;
