-- job_results_refused: which of these items cannot finish with the result they bring.
--   returns  their ordinals: a result over queue.result.max_bytes
create or replace function penstock.job_results_refused(p_results jsonb[]) returns bigint[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select array(
    select x.ordinality from unnest(p_results) with ordinality x(result, ordinality)
     where pg_column_size(x.result) > penstock.config_text('queue.result.max_bytes', '65536')::bigint)
$$;
