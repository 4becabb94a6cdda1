-- fn_job_callback_key: the key with which somebody without a login may answer this job, once it waits.
--   p_job_id, p_token  the job and the token of its claim: only who holds it may know
--   returns            the same whenever the job is tried again: whoever was told of it before a crash can still answer
--   refuses            with PS009 who does not hold the job
--   reads              job_queue, callback_secret
create or replace function penstock.fn_job_callback_key(p_job_id bigint, p_token bigint) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_rules bigint[] := penstock.caller_rules();
begin
  if not exists (select from penstock.job_queue q where q.job_id = p_job_id and q.lease_token = p_token and q.status = 'running'
                    and (v_rules is null or q.rule = any (v_rules))) then
    raise exception using errcode = 'PS009', message = format('job %s is not held under this token: its key is not told', p_job_id);
  end if;
  -- both parts have a fixed length, so no key is made of another
  return (select encode(sha256(c.secret || int8send(p_job_id)), 'hex') from penstock.callback_secret c);
end
$$;
