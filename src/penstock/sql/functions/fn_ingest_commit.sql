-- fn_ingest_commit: make staged messages executions, and move the ledger; all or nothing. Its end renews the runtime's lease.
--   p_runtime_token  the runtime's; once another has taken the subscription, nothing moves (PS019)
--   p_positions      {part: {"identity": …, "next": first offset not read, "floor": all below are acknowledged,
--                    "keep_s": how long identities of this part are kept; for ever without}}
--   p_expected       {task attempt: rows it staged}, {} to move the ledger alone; any difference raises PS021: unlogged
--                    staging is empty after a crash
--   p_lane           the staging table they are in, 0 or 1
--   returns          {"received", "executions", "deduplicated", "dead_lettered", "replays"}
--   writes           ingest_message, job, job_queue, ingest_dead_letter, execution_event, once_key, ingest_position,
--                    subscription_runtime
--   locks            the runtime's row first, then once_key (by scope, key)
create or replace function penstock.fn_ingest_commit(
  p_subscription text, p_runtime_token bigint, p_positions jsonb, p_expected jsonb, p_lane int default 0) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp set work_mem = '64MB' as $$
declare
  v_held penstock.subscription_runtime;
  v_stage text := penstock.stage_name(p_subscription, p_runtime_token, p_lane);
  v_attempts text[] := array(select jsonb_object_keys(p_expected));
  v_content jsonb;
  v_verdicts penstock.ingest_verdict[];
  v_report jsonb;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription for update;
  perform penstock.runtime_checked(p_subscription, v_held, p_runtime_token);
  if cardinality(v_attempts) = 0 then
    perform penstock.ingest_move(p_subscription, p_positions);
    perform penstock.runtime_renewed(p_subscription);
    return '{"received": 0, "executions": 0, "deduplicated": 0, "dead_lettered": 0, "replays": 0}'::jsonb;
  end if;
  perform penstock.ingest_expected_check(v_stage, p_expected);
  select c.content into v_content from penstock.catalog c where c.path = p_subscription and c.version = v_held.version;
  v_verdicts := penstock.ingest_judge(p_subscription, v_stage, v_attempts, v_content, p_positions);
  perform penstock.ingest_dead(p_subscription, v_stage, v_verdicts);
  perform penstock.ingest_deduplicated(p_subscription, v_stage, v_verdicts);
  perform penstock.ingest_execute(p_subscription, v_held.version, v_stage, v_attempts, v_content, v_verdicts);
  perform penstock.ingest_move(p_subscription, p_positions);
  select jsonb_build_object('received', e.n, 'executions', e.n - cardinality(v_verdicts),
           'deduplicated', count(*) filter (where v.verdict = 'deduplicated'),
           'dead_lettered', count(*) filter (where v.verdict = 'dead'), 'replays', count(*) filter (where v.verdict = 'replay'))
    into v_report
    from (select coalesce(sum(x.value::bigint), 0) from jsonb_each_text(p_expected) x) e(n) left join unnest(v_verdicts) v on true
   group by e.n;
  perform penstock.runtime_counted(p_subscription, v_report);
  perform penstock.runtime_renewed(p_subscription);
  return v_report;
end
$$;
