-- job_results_refused: which of these items cannot finish with the result or the next steps they bring.
--   returns  their ordinals: a result over queue.result.max_bytes, or next steps without a playbook
create or replace function penstock.job_results_refused(p_results jsonb[], p_next jsonb[])
returns bigint[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select array(
    select x.ordinality from unnest(p_results, p_next) with ordinality x(result, next, ordinality)
     where pg_column_size(x.result) > penstock.config_text('queue.result.max_bytes', '65536')::bigint
        or x.next is not null)
$$;
