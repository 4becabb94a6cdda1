-- v_executor_subscription_health: who may claim, under how many rules, and who of them lives.
create or replace view penstock.v_executor_subscription_health as
select e.executor_id, e.executor_kind::text as executor_kind, e.deregistered_at is null as registered,
       count(s.subscription_id) as rules, coalesce(bool_or(s.enabled), false) as any_enabled,
       (select count(*) from penstock.queue_heartbeat h where h.executor_id = e.executor_id and h.silent_since is null) as living,
       (select count(*) from penstock.queue_heartbeat h where h.executor_id = e.executor_id and h.silent_since is not null) as silent,
       (select max(h.beat_at) from penstock.queue_heartbeat h where h.executor_id = e.executor_id) as last_beat_at
  from penstock.executor e left join penstock.job_subscription s on s.executor_id = e.executor_id
 group by e.executor_id;
