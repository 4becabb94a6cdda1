-- ingest_judge: which staged rows do not become executions: replays first, then what cannot run, then duplicates.
--   p_content    the subscription, at the version its runtime reads by
--   returns      a verdict per such row; a row without one is executed
--   writes       once_key
create or replace function penstock.ingest_judge(
  p_subscription text, p_stage text, p_attempts text[], p_content jsonb, p_positions jsonb) returns penstock.ingest_verdict[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_until timestamptz := penstock.ingest_dedup_until(p_content);
  v_verdicts penstock.ingest_verdict[];
begin
  v_verdicts := penstock.ingest_replays(p_subscription, p_stage, p_attempts, p_positions);
  v_verdicts := v_verdicts || penstock.ingest_faults(p_stage, p_attempts, p_content, v_verdicts);
  if v_until is not null then
    v_verdicts := v_verdicts || penstock.ingest_duplicates(p_subscription, p_stage, p_attempts, p_positions, v_until, v_verdicts);
  end if;
  return v_verdicts;
end
$$;
