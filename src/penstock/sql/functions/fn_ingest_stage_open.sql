-- fn_ingest_stage_open: make a staging table of a runtime, and drop those of the runtimes before it.
--   p_lane   which of its tables, 0 or 1
--   returns  its name in the schema penstock. Unlogged: after a crash of the server it is empty, and the commit notices
--   writes   a table that penstock_pipeline may insert into; the job ids are taken when rows come in
--   locks    the runtime's row
create or replace function penstock.fn_ingest_stage_open(
  p_subscription text, p_runtime_token bigint, p_lane int default 0) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_held penstock.subscription_runtime;
  v_name text := penstock.stage_name(p_subscription, p_runtime_token, p_lane);
  v_old text;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription for update;
  perform penstock.runtime_checked(p_subscription, v_held, p_runtime_token);
  if to_regclass('penstock.' || v_name) is not null then
    return v_name;
  end if;
  for v_old in
    select c.relname from pg_class c
     where c.relnamespace = 'penstock'::regnamespace
       and c.relname ~ ('^' || substring(v_name from '^ingest_stage_[0-9]+_') || '[0-9]+_[01]$')
       and left(c.relname, -1) <> left(v_name, -1)
  loop
    perform penstock.stage_drop(v_old);
  end loop;
  execute format($sql$
    create unlogged table penstock.%I (
      job_id bigint not null default nextval('penstock.job_id_seq'),
      attempt text collate "C" not null,
      part text collate "C" not null,
      source_offset bigint not null,
      identity text collate "C",
      message_id text collate "C" not null,
      published_at timestamptz,
      message_key bytea,
      body bytea,
      attributes text not null,
      playbook text collate "C",
      pool text collate "C",
      dedup_key text collate "C",
      trace text,
      directives text,
      fault text,
      ack text,
      lane text collate "C",
      delivery_attempt integer
    ) with (autovacuum_enabled = off)$sql$, v_name);
  -- job ids come from the sequence, never from the pipeline
  execute format('grant insert (attempt, part, source_offset, identity, message_id, published_at, message_key, body, attributes, '
    'playbook, pool, dedup_key, trace, directives, fault, ack, lane, delivery_attempt), '
    'select (attempt, ack) on penstock.%I to penstock_pipeline', v_name);
  return v_name;
end
$$;
