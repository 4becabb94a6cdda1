-- stage_drop: drop a staging table, unless somebody is still writing into it.
--   returns  whether it is gone
--   writes   ingest_chunk, ingest_slice
--   locks    the table, for at most 200 ms: a stopped process may hold it for ever
create or replace function penstock.stage_drop(p_stage text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '200ms' as $$
begin
  execute format('drop table if exists penstock.%I', p_stage);
  delete from penstock.ingest_chunk c where c.stage = p_stage;
  delete from penstock.ingest_slice s where s.stage = p_stage;
  return true;
exception when lock_not_available then
  return false;
end
$$;
