-- backlog_reason: why ready jobs of this kind wait.
--   p_priority  of the best of them
--   returns  null when a living worker serves them; else what is missing
--   reads    job_subscription, executor, queue_heartbeat
create or replace function penstock.backlog_reason(p_executor text, p_pool text, p_job_kind text, p_event_domain text, p_priority smallint)
returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  with taker as (
    select e.executor_id, s.priority_floor from penstock.executor e
     cross join lateral (
       select r.enabled, r.priority_floor from penstock.job_subscription r
        where r.executor_id = e.executor_id and (r.job_kind is null or r.job_kind = p_job_kind)
          and (r.event_domain is null or r.event_domain = p_event_domain)
        order by r.job_kind is null, r.event_domain is null limit 1) s
     where e.executor_kind = p_executor and e.deregistered_at is null and s.enabled)
  select case
    when not exists (select from penstock.executor e where e.executor_kind = p_executor and e.deregistered_at is null)
      then format('no executor of kind %s is registered', p_executor)
    when not exists (select from taker) then 'no enabled job subscription takes it'
    when p_priority < all (select t.priority_floor from taker t)
      then format('its priority %s is below the floor of every job subscription that takes it', p_priority)
    when not exists (select from taker t join penstock.queue_heartbeat h on h.executor_id = t.executor_id and h.silent_since is null
                      where (h.kinds is null or p_job_kind = any (h.kinds)) and (h.pools is null or p_pool = any (h.pools)))
      then 'no living worker serves it'
  end
$$;
