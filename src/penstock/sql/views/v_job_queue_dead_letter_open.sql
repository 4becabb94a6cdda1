-- v_job_queue_dead_letter_open: dead-lettered jobs nobody has dealt with yet.
create or replace view penstock.v_job_queue_dead_letter_open as
select d.dead_letter_id, d.job_id, d.job_kind, d.reason, d.error, d.dead_at
  from penstock.job_dead_letter d where d.resolved_at is null;
