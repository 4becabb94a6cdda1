-- v_dead_letter: every dead letter in one, ids prefixed by what died. A read by origin and number uses an index.
create or replace view penstock.v_dead_letter as
select 'job-' || d.dead_letter_id as id, 'job' as origin, d.job_id, d.job_kind as what, d.reason, d.error, d.snapshot, d.dead_at,
       d.resolved_at, d.resolved_by::text as resolved_by, d.resolution, d.replay_job_id, d.dead_letter_id as number
  from penstock.job_dead_letter d;
