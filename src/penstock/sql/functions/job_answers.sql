-- job_answers: the answer of a fenced call in which something was refused; settles the jobs that were cancelled meanwhile.
--   p_done   accepted; an id given twice is accepted once
--   returns  per pair, in the order given: accepted, or the reason why not
create or replace function penstock.job_answers(
  p_job_ids bigint[], p_tokens bigint[], p_done bigint[], p_rules bigint[])
returns table (job_id bigint, accepted boolean, reason text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_done bigint[] := coalesce(p_done, '{}');
begin
  return query
    select x.job_id, x.nth = 1 and x.job_id = any (v_done),
           case when x.job_id = any (v_done) and x.nth = 1 then null
                when x.job_id = any (v_done) then 'finished'
                else coalesce(nullif(penstock.job_refusal(x.job_id, x.token, p_rules), 'ok'), 'bad_result') end
      from (select u.job_id, u.token, u.ordinality, row_number() over (partition by u.job_id order by u.ordinality) as nth
              from unnest(p_job_ids, p_tokens) with ordinality u(job_id, token, ordinality)) x
     order by x.ordinality;
  perform penstock.cancelled_settle(p_job_ids, p_tokens, p_rules);
end
$$;
