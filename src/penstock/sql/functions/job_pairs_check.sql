-- job_pairs_check: refuse job ids and tokens that do not come in pairs.
create or replace function penstock.job_pairs_check(p_job_ids bigint[], p_tokens bigint[], p_more jsonb[]) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if p_job_ids is null or p_tokens is null or cardinality(p_job_ids) <> cardinality(p_tokens)
     or (p_more is not null and cardinality(p_more) <> cardinality(p_job_ids)) then
    raise exception using errcode = 'PS011',
      message = format('%s job ids with %s tokens%s: the arrays must be of one length', coalesce(cardinality(p_job_ids), 0),
                       coalesce(cardinality(p_tokens), 0),
                       case when p_more is not null then format(' and %s items', cardinality(p_more)) else '' end);
  end if;
end
$$;
