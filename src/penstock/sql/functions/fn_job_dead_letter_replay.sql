-- fn_job_dead_letter_replay: run a dead-lettered job again, as a new job that points at the letter.
--   p_dead_letter_id  an open dead letter
--   returns           the new job; the letter is resolved, never deleted. A step of a workflow is run again in its place there
--   writes            job, job_queue, job_dead_letter; the same rules as an enqueue apply
--   locks             its workflow, the letter
create or replace function penstock.fn_job_dead_letter_replay(p_dead_letter_id bigint, p_actor text default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_execution bigint := (select w.execution_id from penstock.job_workflow w where w.execution_id = (
    select (d.snapshot ->> 'execution_id')::bigint from penstock.job_dead_letter d where d.dead_letter_id = p_dead_letter_id) for update);
  v_letter penstock.job_dead_letter := penstock.dead_letter_locked(p_dead_letter_id);
  v_was penstock.job := jsonb_populate_record(null::penstock.job, v_letter.snapshot);
  v_new bigint := nextval('penstock.job_id_seq');
begin
  if v_letter.job_kind = 'route_deliver' then
    raise exception using errcode = 'PS014', message = format('dead letter job-%s is that of a delivery', p_dead_letter_id),
      hint = 'The next tick makes it a dead letter of its route: penstock tick, then penstock dlq list, and replay that.';
  end if;
  if v_execution is not null then
    return penstock.step_replayed(v_execution, v_letter, v_actor);
  end if;
  if v_was.step is not null then
    raise exception using errcode = 'PS009',
      message = format('execution %s is forgotten: its step %s cannot be run again', v_was.execution_id, v_was.step),
      hint = format('Start the playbook anew, and close this: penstock dlq discard job-%s --reason …', p_dead_letter_id);
  end if;
  perform penstock.payload_check(v_was.safe_payload, 'safe_payload');
  perform penstock.job_insert(array[row(1, v_new, v_was.job_kind, null, v_was.executor, v_was.source_ref, v_was.target_ref,
    v_was.payload_ref, v_was.safe_payload, v_was.priority, null, v_was.correlation_id, v_was.causation_event_id,
    v_actor, v_was.pool, v_was.lane, v_was.event_domain, v_was.trace, v_was.max_attempts,
    p_dead_letter_id, v_was.playbook_ref, v_was.subscription, null)::penstock.job_request]);
  -- an execution of one step has that step's backoff, as when it was started
  update penstock.job_queue q set step_id = s.step_id
    from penstock.playbook_step s
   where q.job_id = v_new and s.backoff is not null and s.is_single
     and (s.path, s.version) = (split_part(v_was.playbook_ref, '@', 1), split_part(v_was.playbook_ref, '@', 2)::integer);
  update penstock.job_dead_letter d
     set resolved_at = now(), resolved_by = v_actor, resolution = 'replayed', replay_job_id = v_new
   where d.dead_letter_id = p_dead_letter_id;
  return v_new;
end
$$;
