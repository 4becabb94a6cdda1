-- ingest_replay: make an execution of a dead-lettered message after all, by the rules its subscription has now.
--   returns  the execution, the first one's if its dedup key is taken; refuses with PS023 while it still cannot become one
--   writes   once_key, ingest_message, job, job_queue, ingest_dead_letter, execution_event; a workflow of a playbook of several steps
--   locks    the letter
create or replace function penstock.ingest_replay(p_dead_letter_id bigint, p_actor penstock.actor_ref) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_letter penstock.ingest_dead_letter := penstock.ingest_dead_letter_locked(p_dead_letter_id);
  v_content jsonb := (select c.content from penstock.subscription s join penstock.catalog c using (path, version)
                       where s.path = v_letter.subscription);
  v_playbook text := coalesce(v_letter.playbook, v_content #>> '{spec,dispatch,playbook}');
  v_fault text := penstock.ingest_fault(v_letter.fault, v_playbook, v_letter.pool, v_letter.body,
    array(select penstock.catalog_playbooks('Subscription', v_content)), penstock.playbooks_known(v_content),
    penstock.pools_known(v_content), coalesce(v_content #>> '{spec,dispatch,payload_from}', 'message.body') = 'message.json');
  v_target penstock.playbook_target := (penstock.playbook_targets(array[v_playbook]))[1];
  v_job_id bigint := nextval('penstock.job_id_seq');
  v_first bigint;
begin
  if v_fault is not null then
    raise exception using errcode = 'PS023', message = format('message %s still cannot be executed: %s', v_letter.message_id,
      coalesce((jsonb_build_object('bad_json', 'its body is not JSON', 'playbook_gone', 'its playbook is not in the catalog',
        'playbook_not_allowed', 'its subscription does not allow that playbook',
        'pool_not_allowed', 'its subscription does not allow that pool',
        'too_large', 'its body is larger than the API takes, and is at its source alone')) ->> v_fault, v_fault)),
      hint = format('Change what stands in its way, or discard it: penstock dlq discard ingest-%s --reason TEXT', p_dead_letter_id);
  end if;
  v_first := penstock.ingest_replay_first(v_letter, v_content, v_job_id, p_actor);
  if v_first <> v_job_id then
    return v_first;
  end if;
  perform penstock.partition_ensure('ingest_message', now());
  insert into penstock.ingest_message (
    execution_id, ingested_at, subscription, version, message_id, part, source_offset, published_at, message_key, body, attributes,
    directives, delivery_attempt)
  select v_job_id, now(), l.subscription, (select s.version from penstock.subscription s where s.path = l.subscription), l.message_id,
         l.part, l.source_offset, l.published_at, l.message_key, l.body, l.attributes,
         l.directives, l.delivery_attempt from penstock.ingest_dead_letter l where l.dead_letter_id = p_dead_letter_id;
  perform penstock.ingest_replay_start(v_letter, v_target, v_job_id,
    coalesce(v_letter.pool, v_content #>> '{spec,dispatch,execution_pool}'), p_actor);
  update penstock.ingest_dead_letter d
     set resolved_at = now(), resolved_by = p_actor, resolution = 'replayed', replay_execution_id = v_job_id
   where d.dead_letter_id = p_dead_letter_id;
  perform penstock.subscription_event(v_letter.subscription, 'message.replayed', p_actor,
    jsonb_build_object('message_id', v_letter.message_id, 'dead_letter', 'ingest-' || p_dead_letter_id), v_job_id);
  return v_job_id;
end
$$;
