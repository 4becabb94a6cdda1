-- fn_job_await: this running job goes on when somebody, something or some time answers; until then it holds no lease and no slot.
--   p_job_id, p_token  the job and the token of its claim
--   p_until            when it is due, null for never
--   p_on_due           resume: it has succeeded then; expire: nobody has answered, it is dead-lettered, or goes where its playbook says
--   p_callback_key     who knows it may answer, once; kept hashed
--   p_approvers        actors that may answer; null for operators only
--   p_prompt           what is asked
--   returns            per job: accepted, or the reason why not, as fn_job_finish
--   writes             job_queue, job_await, job_outcome
--   locks              its job_queue row
create or replace function penstock.fn_job_await(
  p_job_id bigint, p_token bigint, p_until timestamptz default null, p_on_due text default 'expire', p_callback_key text default null,
  p_approvers text[] default null, p_prompt text default null)
returns table (job_id bigint, accepted boolean, reason text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_rules bigint[] := penstock.caller_rules();
  v_done bigint[];
begin
  if p_on_due not in ('resume', 'expire') or length(p_callback_key) < 16 or length(p_prompt) > 2000 then
    raise exception using errcode = 'PS011',
      message = 'p_on_due is resume or expire, p_callback_key has 16 characters at least, p_prompt 2000 at most';
  end if;
  with moved as (
    update penstock.job_queue q
       -- who began it stays a fact; nothing of an awaiting job is leased
       set status = 'awaiting', process_after = p_until, lease_until = null, rule = null
     where q.job_id = p_job_id and q.lease_token = p_token and q.status = 'running' and not q.cancel_requested
       and (v_rules is null or q.rule = any (v_rules))
    returning q.job_id
  ), asked as (
    insert into penstock.job_await (job_id, on_due, key_hash, approvers, prompt)
    select m.job_id, p_on_due, sha256(convert_to(p_callback_key, 'UTF8')), p_approvers, p_prompt from moved m
    on conflict (job_id) do update set on_due = excluded.on_due, key_hash = excluded.key_hash, approvers = excluded.approvers,
      prompt = excluded.prompt, asked_at = now()
  )
  select array_agg(1::bigint) into v_done from moved;
  return query select * from penstock.job_answers(array[p_job_id], array[p_token], v_done, v_rules);
end
$$;
