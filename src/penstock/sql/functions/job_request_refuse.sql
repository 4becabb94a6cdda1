-- job_request_refuse: raise what is wrong with the first bad one of these requests.
--   p_rows  requests of which one at least has a fault
create or replace function penstock.job_request_refuse(p_rows penstock.job_request[]) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_max bigint := penstock.config_text('queue.safe_payload.max_bytes', '8192')::bigint;
  v_bad record;
begin
  select r.ordinal, penstock.job_request_fault(r, v_max) as what, penstock.job_request_fault(r, null) is null as is_large into v_bad
    from unnest(p_rows) r where penstock.job_request_fault(r, v_max) is not null order by r.ordinal limit 1;
  raise exception using errcode = case when v_bad.is_large then 'PS007' else 'PS011' end,
    message = format('job %s of the request: %s', v_bad.ordinal, v_bad.what),
    hint = case when v_bad.is_large then 'Jobs carry a signal: keep the data elsewhere and pass its address as payload_ref.'
                else 'Nothing of the request was taken: mend this job and ask again.' end;
end
$$;
