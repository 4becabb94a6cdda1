-- job_refusal: why a holder's move of a job is refused.
--   returns  unknown_job, finished, stale_token, not_leased, not_yours, cancelled; null when nothing speaks against it
--   reads    job_queue, job
create or replace function penstock.job_refusal(p_job_id bigint, p_token bigint, p_rules bigint[]) returns text
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select coalesce(
    (select case
        when q.status not in ('leased', 'running') then 'not_leased'
        when q.lease_token is distinct from p_token then 'stale_token'
        when p_rules is not null and q.rule <> all (p_rules) then 'not_yours'
        when q.cancel_requested then 'cancelled'
        else 'ok' end
       from penstock.job_queue q where q.job_id = p_job_id),
    (select 'finished' from penstock.job j where j.job_id = p_job_id),
    'unknown_job')
$$;
