-- happened: note what no other row says.
--   writes  execution_event
create or replace function penstock.happened(p_job_id bigint, p_happening text, p_actor penstock.actor_ref, p_detail jsonb default null)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform penstock.partition_ensure('execution_event', now());
  insert into penstock.execution_event (execution_id, job_id, happening, actor, detail)
  values (p_job_id, p_job_id, p_happening, p_actor, p_detail);
end
$$;
