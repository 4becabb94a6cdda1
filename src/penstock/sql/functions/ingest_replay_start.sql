-- ingest_replay_start: the execution a replayed message becomes: one job, or a workflow and its first.
--   The message's own lane, if it has one, goes before its playbook's.
--   p_letter     the message
--   p_target     what its playbook begins with
--   p_execution  the id it gets
--   p_pool       where its subscription has it served, if it says so
--   writes       job, job_queue; of a playbook of several steps also job_workflow, job_step
create or replace function penstock.ingest_replay_start(
  p_letter penstock.ingest_dead_letter, p_target penstock.playbook_target, p_execution bigint, p_pool text, p_actor penstock.actor_ref)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if p_target.is_single then
    perform penstock.job_insert(array[row(1, p_execution, p_target.job_kind, p_letter.dedup_key, p_target.executor, p_letter.message_id,
      null, 'penstock://message/' || p_execution, null, 0, null, null, null, p_actor, coalesce(p_pool, p_target.pool, 'subscription'),
      coalesce(p_letter.lane, p_target.lane), null, p_letter.trace, p_target.max_attempts, null, p_target.ref, p_letter.subscription,
      null)::penstock.job_request], p_checked => true);
    update penstock.job_queue q set step_id = p_target.step_id where q.job_id = p_execution and p_target.step_id is not null;
    return;
  end if;
  insert into penstock.job_workflow (
    execution_id, started_at, playbook_ref, subscription, open, priority, pool, source_ref, payload_ref, trace, actor, idempotency_key,
    lane)
  values (p_execution, now(), p_target.ref, p_letter.subscription, 1, 0, p_pool, p_letter.message_id,
          'penstock://message/' || p_execution, p_letter.trace, p_actor, p_letter.dedup_key, p_letter.lane);
  perform penstock.steps_start(array[
    row(p_execution, p_target.step_id, 1, 0, p_execution, null, null, null, null, null, false)::penstock.step_start]);
end
$$;
