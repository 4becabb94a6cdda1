-- fn_ingest_stage_clear: empty a staging table of a runtime after a commit and its acknowledgements.
--   returns  whether it is empty; not while a stopped task holds the table: its rows are never committed, only in the way
--   refuses  a subscription that is not there, with PS017
--   writes   ingest_chunk, ingest_slice
--   locks    the table, for at most 200 ms
create or replace function penstock.fn_ingest_stage_clear(
  p_subscription text, p_runtime_token bigint, p_lane int default 0) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '200ms' as $$
declare
  v_stage text := penstock.stage_name(p_subscription, p_runtime_token, p_lane);
begin
  if v_stage is null then
    raise exception using errcode = 'PS017', message = format('subscription %s is not registered', coalesce(p_subscription, 'null')),
      hint = 'Register it: penstock subscription register FILE';
  end if;
  execute format('truncate penstock.%I', v_stage);
  delete from penstock.ingest_chunk c where c.stage = v_stage;
  delete from penstock.ingest_slice s where s.stage = v_stage;
  return true;
exception when lock_not_available or undefined_table then
  return false;
end
$$;
