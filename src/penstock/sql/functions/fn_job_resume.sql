-- fn_job_resume: answer a job that waits for one.
--   p_callback_key  what it was asked with, usable once; without it the caller must be an operator, or speak for one of its approvers
--   p_result        becomes the step's result
--   returns         succeeded; refuses with PS009 what does not wait, or waits for an execution, with PS004 a wrong key or somebody
--                   who was not asked
--   writes          job_queue, job_await, job_outcome, job_result, execution_event; the steps that come after
--   locks           its workflow's row, its job_queue row
create or replace function penstock.fn_job_resume(
  p_job_id bigint, p_callback_key text default null, p_result jsonb default null, p_actor text default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_await penstock.job_await;
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  perform penstock.workflows_locked(array[p_job_id]);
  perform from penstock.job_queue q where q.job_id = p_job_id and q.status = 'awaiting' for update;
  if not found then
    raise exception using errcode = 'PS009', message = format('job %s does not wait for an answer: it is %s', p_job_id,
      coalesce((select j.status from penstock.v_job j where j.job_id = p_job_id), 'unknown')),
      hint = 'It may have been answered already, or not be there yet: penstock job show says.';
  end if;
  select * into v_await from penstock.job_await a where a.job_id = p_job_id;
  if (p_callback_key is not null and v_await.key_hash is distinct from sha256(convert_to(p_callback_key, 'UTF8')))
     or (p_callback_key is null and not penstock.caller_is_operator() and v_actor <> all (coalesce(v_await.approvers, '{}'))) then
    raise exception using errcode = 'PS004', message = case when p_callback_key is not null
        then format('this is not the callback key of job %s', p_job_id)
        else format('%s was not asked by job %s', v_actor, p_job_id) end,
      hint = coalesce('Asked were ' || array_to_string(v_await.approvers, ', ') || '.', 'Only operators can answer it without its key.');
  end if;
  perform penstock.answer_by_hand_check(p_job_id);
  if penstock.job_results_refused(array[p_result]) <> '{}' then
    raise exception using errcode = 'PS007', message = format(
      'the answer for job %s is %s bytes of JSON, and %s are kept (queue.result.max_bytes)', p_job_id, octet_length(p_result::text),
      penstock.config_text('queue.result.max_bytes', '65536'));
  end if;
  perform penstock.happened(p_job_id, 'resumed', v_actor, jsonb_build_object('by_key', p_callback_key is not null));
  perform penstock.awaiting_done(array[p_job_id], p_result);
  return 'succeeded';
end
$$;
