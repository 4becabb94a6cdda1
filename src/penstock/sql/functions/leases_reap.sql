-- leases_reap: take back jobs whose lease has ended, whoever held it.
--   p_limit  at most this many
--   returns  how many were taken back: leased ones are ready again and keep their attempt; running ones have used it;
--            those asked to be cancelled are
--   locks    job_workflow rows by id, then job_queue rows by job_id, skipping locked ones: their holder is just reporting
create or replace function penstock.leases_reap(p_limit integer default 1000) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_jobs bigint[];
  v_tokens bigint[];
  v_domains text[];
  v_ended bigint[] := array(select q.job_id from penstock.job_queue q
                             where q.status in ('leased', 'running') and q.lease_until < clock_timestamp() order by q.job_id limit p_limit);
  v_wanted bigint[] := array(select distinct q.execution_id from penstock.job_queue q
                              where q.job_id = any (v_ended) and q.execution_id is not null);
  v_free bigint[] := array(select w.execution_id from penstock.job_workflow w where w.execution_id = any (v_wanted)
                            order by w.execution_id for update skip locked);
begin
  select array_agg(e.job_id), array_agg(e.lease_token) into v_jobs, v_tokens
    from (select q.job_id, q.lease_token from penstock.job_queue q
           where q.job_id = any (v_ended) and q.status in ('leased', 'running') and q.lease_until < clock_timestamp()
             and (q.execution_id is null or q.execution_id = any (v_free))
           order by q.job_id for update skip locked) e;
  if v_jobs is null then
    return 0;
  end if;
  perform penstock.cancelled_settle(v_jobs, v_tokens, null);
  with given_back as (
    update penstock.job_queue q
       set status = 'ready', attempt = q.attempt - 1, lease_token = null, lease_until = null, leased_by = null, rule = null
     where q.job_id = any (v_jobs) and q.status = 'leased'
    returning q.event_domain)
  select array_agg(distinct g.event_domain) into v_domains from given_back g;
  perform penstock.steps_hold(v_jobs);
  perform penstock.attempts_failed(
    v_jobs, v_tokens,
    array_fill('{"type": "LeaseExpired", "message": "the lease ended before the worker reported"}'::jsonb, array[cardinality(v_jobs)]),
    'lease_expired', null);
  perform penstock.wake(v_domains);
  return cardinality(v_jobs);
end
$$;
