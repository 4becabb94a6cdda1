-- subscription_schedule: the clock asks for drains of a scheduled subscription while it is ACTIVE, and of no other.
--   The job's kind is drain:<subscription_id>: a path may be longer than a kind.
--   writes  schedule; cancels the drains that wait when it asks for no more
create or replace function penstock.subscription_schedule(p_path text, p_actor penstock.actor_ref) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_id text;
  v_number bigint;
  v_state text;
  v_spec jsonb;
  v_next timestamptz;
begin
  select s.state, s.subscription_id, c.content -> 'spec' into v_state, v_number, v_spec
    from penstock.subscription s join penstock.catalog c on c.path = s.path and c.version = s.version where s.path = p_path;
  v_id := 'subscription-' || v_number;
  if v_state <> 'ACTIVE' or v_spec ->> 'activation' is distinct from 'scheduled' then
    delete from penstock.schedule s where s.schedule_id = v_id;
    if found then
      perform penstock.drains_cancel('drain:' || v_number, p_actor);
    end if;
    return;
  end if;
  v_next := penstock.schedule_next(v_spec ->> 'cadence', null, 'UTC', now());
  insert into penstock.schedule as s (schedule_id, cron, timezone, job, next_run_at, set_by)
  values (v_id, v_spec ->> 'cadence', 'UTC',
          jsonb_build_object('kind', 'drain:' || v_number, 'pool', 'subscription', 'max_attempts', 1, 'lane', 'drain:' || v_number,
                             'target_ref', p_path),
          v_next, p_actor)
  on conflict (schedule_id) do update set cron = excluded.cron, job = excluded.job, enabled = true, set_at = now(),
    next_run_at = case when s.cron = excluded.cron then s.next_run_at else excluded.next_run_at end;
end
$$;
