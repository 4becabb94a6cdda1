-- ingest_replay_first: a dead letter with a dedup key takes it now, as a staged message does; a letter without one is a first.
--   p_letter   a locked one that could be executed
--   p_content  its subscription, at the newest version
--   p_job_id   the execution it would become
--   returns    that, or the execution the key stands for: then the letter is resolved as its duplicate
--   writes     once_key; ingest_dead_letter and execution_event for a duplicate
create or replace function penstock.ingest_replay_first(
  p_letter penstock.ingest_dead_letter, p_content jsonb, p_job_id bigint, p_actor penstock.actor_ref) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_until timestamptz := penstock.ingest_dedup_until(p_content);
  v_key text := 'key:' || p_letter.dedup_key;
  v_first bigint;
begin
  if v_until is null or v_key is null then
    return p_job_id;
  end if;
  v_first := penstock.once_take('dedup:' || p_letter.subscription, v_key, p_job_id::text, 'dedup', v_until)::bigint;
  if v_first = p_job_id then
    return p_job_id;
  end if;
  update penstock.ingest_dead_letter d
     set resolved_at = now(), resolved_by = p_actor, resolution = 'duplicate', replay_execution_id = v_first
   where d.dead_letter_id = p_letter.dead_letter_id;
  perform penstock.subscription_event(p_letter.subscription, 'message.deduplicated', p_actor,
    jsonb_build_object('message_id', p_letter.message_id, 'key', v_key, 'dead_letter', 'ingest-' || p_letter.dead_letter_id), v_first);
  return v_first;
end
$$;
