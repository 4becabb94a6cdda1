-- tick_part: run one part of a tick on its own; what it raises stops no other part.
--   p_part   outbox, dispatch, routes, broadcasts, cursors, events_sweep, events_audit, promote, reap, silence, lanes, once_keys,
--            analyze, partitions, subscriptions, schedules, awaiting, workflows, staging, history
--   returns  {"ok": true, "did": …} or {"ok": false, "error": …}
--   writes   queue_tick_part, and what the part writes
--   locks    as the part does, waiting 2 s for each at most: an open transaction elsewhere must not stop the clock
create or replace function penstock.tick_part(p_part text) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
  v_did jsonb;
  v_report jsonb;
begin
  begin
    -- a statement per part: each is only parsed when it is run, so one broken function breaks one part
    case p_part
      when 'outbox' then v_did := to_jsonb(penstock.fn_outbox_tick());
      when 'dispatch' then v_did := penstock.fn_consumer_dispatch_run(p_limit => 5000)
                                    || jsonb_build_object('unlocked', penstock.consumers_unlocked());
      when 'broadcasts' then v_did := to_jsonb(penstock.broadcasts_count());
      when 'routes' then v_did := penstock.routes_tick();
      when 'cursors' then v_did := to_jsonb(penstock.cursors_watch());
      when 'events_sweep' then v_did := to_jsonb(penstock.events_sweep());
      when 'events_audit' then v_did := penstock.events_audit();
      when 'promote' then v_did := to_jsonb(penstock.promote_due(5000));
      when 'awaiting' then v_did := to_jsonb(penstock.awaiting_due(1000));
      when 'workflows' then v_did := penstock.workflows_sweep(500);
      when 'history' then v_did := penstock.history_sweep(2000);
      when 'reap' then v_did := to_jsonb(penstock.leases_reap());
      when 'silence' then v_did := to_jsonb(penstock.silence_watch());
      when 'schedules' then v_did := penstock.schedules_run();
      when 'lanes' then v_did := to_jsonb(penstock.lanes_sweep(200));
      when 'once_keys' then v_did := to_jsonb(penstock.once_sweep());
      when 'analyze' then v_did := to_jsonb(penstock.queue_analyze());
      when 'subscriptions' then v_did := to_jsonb(penstock.subscriptions_watch());
      when 'staging' then v_did := to_jsonb(penstock.fn_staging_expire());
      when 'partitions' then v_did := to_jsonb(penstock.partitions_ahead());
    end case;
    v_report := case when v_did ? 'error' then jsonb_build_object('ok', false, 'error', v_did -> 'error', 'did', v_did)
                     else jsonb_build_object('ok', true, 'did', v_did) end;
  exception when others then
    v_report := jsonb_build_object('ok', false, 'error', sqlerrm, 'sqlstate', sqlstate);
  end;
  insert into penstock.queue_tick_part as p (part, ran_at, failed_since, report)
  values (p_part, now(), case when not (v_report ->> 'ok')::boolean then now() end, v_report)
  on conflict (part) do update set ran_at = excluded.ran_at, report = excluded.report,
    failed_since = case when excluded.failed_since is not null then coalesce(p.failed_since, excluded.failed_since) end;
  return v_report;
end
$$;
