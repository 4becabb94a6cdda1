-- job_answers: the answer of a fenced call in which something was refused; settles the jobs that were cancelled meanwhile.
--   p_done   the ordinals of the accepted pairs: a job may stand in several, under tokens old and new
--   returns  per pair, in the order given: accepted, or the reason why not
create or replace function penstock.job_answers(
  p_job_ids bigint[], p_tokens bigint[], p_done bigint[], p_rules bigint[])
returns table (job_id bigint, accepted boolean, reason text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select x.job_id, d.ordinal is not null,
           case when d.ordinal is null
                then coalesce(nullif(penstock.job_refusal(x.job_id, x.token, p_rules), 'ok'), 'bad_result') end
      from unnest(p_job_ids, p_tokens) with ordinality x(job_id, token, ordinality)
      left join unnest(p_done) d(ordinal) on d.ordinal = x.ordinality
     order by x.ordinality;
  perform penstock.cancelled_settle(p_job_ids, p_tokens, p_rules);
end
$$;
