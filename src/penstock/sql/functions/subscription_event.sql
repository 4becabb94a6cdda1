-- subscription_event: note what happened to a subscription. Lifecycle, circuits, losses and dead letters also become events.
--   p_happening  without the prefix: registered, paused, message.deduplicated, …
--   writes       execution_event, event_outbox
create or replace function penstock.subscription_event(
  p_path text, p_happening text, p_actor penstock.actor_ref, p_detail jsonb default null, p_execution_id bigint default null)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- before the row has its number: who reads by numbers asks which transactions are under way
  perform pg_current_xact_id();
  perform penstock.partition_ensure('execution_event', now());
  insert into penstock.execution_event (execution_id, job_id, happening, actor, detail, subscription)
  values (p_execution_id, p_execution_id, 'subscription.' || p_happening, p_actor, p_detail, p_path);
  if p_happening !~ '^message\.(deduplicated|rejected|spooled|replayed)$' then
    perform penstock.event_insert(gen_random_uuid(), 'system', 'subscription.' || p_happening,
      case when p_happening ~ '^(registered|activated|paused|resumed|draining|deactivated)$' then 'update' else 'alert' end,
      'subscription', p_path, p_detail, p_actor, null, null, null);
  end if;
end
$$;
