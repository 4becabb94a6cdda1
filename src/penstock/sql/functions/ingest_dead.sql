-- ingest_dead: keep whole what cannot become an execution.
--   writes  ingest_dead_letter, execution_event, event_outbox: one event per reason and batch, not per message
create or replace function penstock.ingest_dead(p_subscription text, p_stage text, p_verdicts penstock.ingest_verdict[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_reason record;
begin
  if not exists (select from unnest(p_verdicts) v where v.verdict = 'dead') then
    return;
  end if;
  execute format($sql$
    insert into penstock.ingest_dead_letter (
      subscription, message_id, part, source_offset, published_at, message_key, body, attributes, playbook, pool,
      dedup_key, trace, directives, fault, reason, lane, delivery_attempt)
    select $1, s.message_id, s.part, s.source_offset, s.published_at, s.message_key, s.body, s.attributes::json,
           s.playbook, s.pool, s.dedup_key, s.trace, s.directives::json, s.fault, v.reason, s.lane,
           s.delivery_attempt
      from unnest($2) v join penstock.%I s on s.job_id = v.job_id
     where v.verdict = 'dead' order by s.job_id$sql$, p_stage) using p_subscription, p_verdicts;
  for v_reason in select v.reason, count(*) as n from unnest(p_verdicts) v where v.verdict = 'dead' group by v.reason loop
    perform penstock.subscription_event(p_subscription, 'message.dead_lettered', 'system:ingest',
      jsonb_build_object('reason', v_reason.reason, 'messages', v_reason.n));
  end loop;
end
$$;
