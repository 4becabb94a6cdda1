-- v_job_queue_backlog: what is ready and waits, with the age of the oldest and why nobody takes it. Counts stop at 10,000+.
create or replace view penstock.v_job_queue_backlog as
select b.executor, b.pool, b.job_kind, b.event_domain, least(b.ready, 10000) as ready, b.ready > 10000 as more,
       b.oldest_enqueued_at, now() - b.oldest_enqueued_at as oldest_age, b.reason
  from penstock.backlog() b;
