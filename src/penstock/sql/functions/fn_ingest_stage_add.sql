-- fn_ingest_stage_add: put a chunk of messages into a staging table of a runtime, once.
--   p_attempt   names the chunk; the same one again stages nothing more
--   p_messages  array of 1 to 1,000 objects with the columns of the staging table; message_key and body are base64, published_at
--               is text or microseconds since 1970. A lane begins with the subscription's path and a colon, and there is none
--               where the subscription makes no lanes
--   returns     how many messages it has; PS019 for a runtime that was replaced, PS021 for a table that is gone, and for another
--               number under the same name
--   writes      the staging table, ingest_chunk
--   locks       the chunk's row. Not the runtime's: messages are staged while others are committed, and the commit looks again
create or replace function penstock.fn_ingest_stage_add(
  p_subscription text, p_runtime_token bigint, p_lane int, p_attempt text, p_messages json) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_held penstock.subscription_runtime;
  v_stage text := penstock.stage_name(p_subscription, p_runtime_token, p_lane);
  v_count integer := case when json_typeof(p_messages) = 'array' then json_array_length(p_messages) end;
  v_before integer;
  v_prefix text;
  v_strange text;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription;
  perform penstock.runtime_checked(p_subscription, v_held, p_runtime_token);
  if v_count is null or v_count not between 1 and 1000 or length(p_attempt) not between 1 and 200 then
    raise exception using errcode = 'PS011', message = 'a chunk has a name of 1 to 200 characters, and 1 to 1,000 messages';
  end if;
  insert into penstock.ingest_chunk (stage, attempt, messages) values (v_stage, p_attempt, v_count) on conflict do nothing;
  if not found then
    select c.messages into v_before from penstock.ingest_chunk c where c.stage = v_stage and c.attempt = p_attempt;
    if v_before is distinct from v_count then
      raise exception using errcode = 'PS021', message = format('chunk %s was staged with %s messages before, and has %s now',
        p_attempt, coalesce(v_before::text, 'no'), v_count);
    end if;
    return v_count;
  end if;
  -- null where no lanes are made
  select c.path || ':' into v_prefix from penstock.catalog c
   where c.path = p_subscription and c.version = v_held.version and c.content #>> '{spec,lanes}' is not null;
  execute format($sql$
    with put as (
      insert into penstock.%I (attempt, part, source_offset, identity, message_id, published_at, message_key, body, attributes, playbook,
                               pool, dedup_key, trace, directives, fault, ack, lane, delivery_attempt)
      select $1, m.part, m.source_offset, m.identity, m.message_id, penstock.staged_time(m.published_at), decode(m.message_key, 'base64'),
             decode(m.body, 'base64'), m.attributes, m.playbook, m.pool, m.dedup_key, m.trace, m.directives, m.fault, m.ack,
             m.lane, m.delivery_attempt
        from json_to_recordset($2) m (
          part text, source_offset bigint, identity text, message_id text, published_at json, message_key text, body text,
          attributes text, playbook text, pool text, dedup_key text, trace text, directives text, fault text, ack text,
          lane text, delivery_attempt integer)
      returning lane)
    select p.lane from put p
     where p.lane is not null and (starts_with(p.lane, $3) and length(p.lane) <= 500) is not true limit 1$sql$, v_stage)
    into v_strange using p_attempt, p_messages, v_prefix;
  if v_strange is not null then
    raise exception using errcode = 'PS011', message = format('chunk %s: %L is no lane of subscription %s, which %s', p_attempt,
      left(v_strange, 100), p_subscription, case when v_prefix is null then 'makes no lanes' else 'begins each with its path' end);
  end if;
  return v_count;
exception
  when undefined_table then
    raise exception using errcode = 'PS021', message = format('the staging table %s is gone: nothing was staged', v_stage);
  when not_null_violation then
    raise exception using errcode = 'PS011', message = format('chunk %s: %s', p_attempt, sqlerrm);
end
$$;
