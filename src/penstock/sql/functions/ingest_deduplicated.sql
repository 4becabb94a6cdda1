-- ingest_deduplicated: record each duplicate with the execution of the first one.
--   writes  execution_event
create or replace function penstock.ingest_deduplicated(p_subscription text, p_stage text, p_verdicts penstock.ingest_verdict[])
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from unnest(p_verdicts) v where v.verdict = 'deduplicated') then
    return;
  end if;
  perform penstock.partition_ensure('execution_event', now());
  execute format($sql$
    insert into penstock.execution_event (execution_id, job_id, happening, actor, detail, subscription)
    select v.execution_id, v.execution_id, 'subscription.message.deduplicated', 'system:ingest',
           jsonb_build_object('message_id', s.message_id, 'key', v.reason), $1
      from unnest($2) v join penstock.%I s on s.job_id = v.job_id
     where v.verdict = 'deduplicated' order by s.job_id$sql$, p_stage) using p_subscription, p_verdicts;
end
$$;
