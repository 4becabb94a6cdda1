-- fn_ingest_stage_acks: the acknowledgement handles of staged messages.
--   p_attempts  the task attempts, or chunks, they came in
--   refuses     a runtime that was replaced, with PS019
--   reads       the staging table; one that is gone holds none
create or replace function penstock.fn_ingest_stage_acks(
  p_subscription text, p_runtime_token bigint, p_lane int, p_attempts text[]) returns setof text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_held penstock.subscription_runtime;
  v_stage text := penstock.stage_name(p_subscription, p_runtime_token, p_lane);
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription;
  perform penstock.runtime_checked(p_subscription, v_held, p_runtime_token);
  return query execute format('select s.ack from penstock.%I s where s.attempt = any($1) and s.ack is not null', v_stage)
    using p_attempts;
exception when undefined_table then
  return;
end
$$;
