-- consumer_replay: make the job of a dead-lettered event after all, by what its consumer says now.
--   returns  the prefixed id of the job, an earlier one's if its key is taken; refuses with PS023 while it cannot become one
--   writes   once_key, job, job_queue, consumer_dead_letter
--   locks    the letter
create or replace function penstock.consumer_replay(p_dead_letter_id bigint, p_actor penstock.actor_ref) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_letter penstock.consumer_dead_letter := penstock.consumer_dead_letter_locked(p_dead_letter_id);
  v_events penstock.event_outbox[] := array[jsonb_populate_record(null::penstock.event_outbox, v_letter.event_snapshot)];
  v_plan penstock.consumer_plan;
  v_made bigint;
begin
  select * into v_plan from penstock.consumer_plans(v_events, v_letter.consumer_id);
  if v_plan.fault is null and not exists (select from penstock.consumer_registry c where c.consumer_id = v_plan.consumer_id and c.enabled)
     and v_plan.consumer_id is not null then
    v_plan.fault := 'the consumer is disabled';
  elsif penstock.config_text('queue.consumer_dispatch.enabled', 'true') <> 'true' then
    v_plan.fault := 'queue.consumer_dispatch.enabled is not true';
  end if;
  if v_plan.consumer_id is null or v_plan.dry_run or v_plan.fault is not null then
    raise exception using errcode = 'PS023', message = format('event %s still cannot become a job of %s: %s', v_letter.event_id,
      v_letter.consumer_id, case when v_plan.consumer_id is null then 'the consumer does not take it any more'
                                 else coalesce(v_plan.fault, 'the consumer only runs dry') end),
      hint = format('Change what stands in its way, or discard it: penstock dlq discard event-%s --reason TEXT', p_dead_letter_id);
  end if;
  perform penstock.consumers_dispatch(v_events, v_letter.consumer_id);
  select k.ref::bigint into v_made from penstock.once_key k where k.scope = 'job:' || v_plan.job_kind and k.key = v_plan.key;
  update penstock.consumer_dead_letter d
     set resolved_at = now(), resolved_by = p_actor, resolution = 'replayed', replay_job_id = v_made
   where d.dead_letter_id = p_dead_letter_id;
  return 'job-' || v_made;
end
$$;
