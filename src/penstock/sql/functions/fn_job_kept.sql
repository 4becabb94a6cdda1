-- fn_job_kept: whose finish was accepted: for a worker that asked, and lost the answer.
--   p_job_ids, p_tokens  the jobs and the tokens of their claims
--   returns              those that have succeeded under that very token
--   reads                job_outcome
create or replace function penstock.fn_job_kept(p_job_ids bigint[], p_tokens bigint[]) 
returns table (job_id bigint, lease_token bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select x.job_id, x.token from unnest(p_job_ids, p_tokens) x(job_id, token)
   where exists (select from penstock.job_outcome o
                  where o.job_id = x.job_id and o.lease_token = x.token and o.status = 'succeeded')
$$;
