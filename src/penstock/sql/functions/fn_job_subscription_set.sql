-- fn_job_subscription_set: what an executor may claim. The most specific matching rule decides, enabled or not.
--   p_executor_id, p_executor_kind  a registered executor and its kind
--   p_job_kind, p_event_domain      null matches all
--   p_priority_floor                only jobs of at least this priority; null: all
--   p_max_parallel                  how many jobs it may hold under this rule, over all its processes; null: no limit
--   p_enabled                       false: what the rule matches is not claimed
--   returns                         the rule's id
--   writes                          job_subscription
create or replace function penstock.fn_job_subscription_set(
  p_executor_id text, p_executor_kind text, p_job_kind text default null, p_event_domain text default null,
  p_priority_floor integer default null, p_max_parallel integer default null, p_enabled boolean default false,
  p_registered_by text default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_registered_by);
  v_kind text;
  v_rule bigint;
begin
  perform penstock.executor_kind_check(p_executor_kind);
  select e.executor_kind into v_kind from penstock.executor e where e.executor_id = p_executor_id and e.deregistered_at is null;
  if v_kind is null then
    raise exception using errcode = 'PS001', message = format('executor %L is not registered', p_executor_id),
      hint = 'Register it with fn_executor_register.';
  end if;
  if v_kind <> p_executor_kind then
    raise exception using errcode = 'PS002',
      message = format('executor %s is registered as %s, not as %s', p_executor_id, v_kind, p_executor_kind);
  end if;
  if p_event_domain is not null and not exists (select from penstock.event_domain d where d.event_domain = p_event_domain) then
    raise exception using errcode = 'PS012', message = format('event domain %L does not exist', p_event_domain),
      hint = format('An operator makes it with: select penstock.fn_event_domain_register(%L)', p_event_domain);
  end if;
  if p_max_parallel < 1 or p_priority_floor not between -32768 and 32767 then
    raise exception using errcode = 'PS011', message = 'max_parallel must be at least 1 and priority_floor within -32768 … 32767';
  end if;
  insert into penstock.job_subscription as s (
    executor_id, executor_kind, job_kind, event_domain, priority_floor, max_parallel, enabled, registered_by)
  values (p_executor_id, p_executor_kind, p_job_kind, p_event_domain, coalesce(p_priority_floor, -32768), p_max_parallel,
          coalesce(p_enabled, false), v_actor)
  on conflict (executor_id, job_kind, event_domain) do update
    set priority_floor = excluded.priority_floor, max_parallel = excluded.max_parallel, enabled = excluded.enabled,
        registered_by = excluded.registered_by
  returning s.subscription_id into v_rule;
  return v_rule;
end
$$;
