-- job_results_refused: which of these items cannot finish with the result they bring.
--   returns  their ordinals: a result of more bytes than queue.result.max_bytes, written as JSON: what everybody who is told can count
create or replace function penstock.job_results_refused(p_results jsonb[]) returns bigint[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select array(
    select x.ordinality from unnest(p_results) with ordinality x(result, ordinality)
     where octet_length(x.result::text) > penstock.config_text('queue.result.max_bytes', '65536')::bigint)
$$;
