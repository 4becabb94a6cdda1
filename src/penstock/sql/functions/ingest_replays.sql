-- ingest_replays: staged rows the ledger, or once_key, already knows.
--   Rows without an identity are known by offset under their part; the others by their identity, or by the floor below
--   which identities are forgotten.
--   An identity is kept until the floor passes it, or for the `keep_s` seconds of its part's position, after which its
--   source cannot send the message again.
--   writes  once_key, in key order; an expired row is taken over in place
create or replace function penstock.ingest_replays(p_subscription text, p_stage text, p_attempts text[], p_positions jsonb)
returns penstock.ingest_verdict[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_changed text;
  v_known penstock.ingest_verdict[];
begin
  select p.part into v_changed
    from penstock.ingest_position p join jsonb_each(p_positions) x on x.key = p.part
   where p.path = p_subscription and p.identity <> x.value ->> 'identity' limit 1;
  if v_changed is not null then
    raise exception using errcode = 'PS022',
      message = format('%s is not the one the ledger knows: it was made again since the runtime started', v_changed);
  end if;
  execute format($sql$
    select coalesce(array_agg(row(s.job_id, 'replay', null, null)::penstock.ingest_verdict), '{}')
      from penstock.%I s join penstock.ingest_position p on p.path = $1 and p.part = s.part
     where s.attempt = any ($2)
       and s.source_offset < case when s.identity is null then p.next_offset else p.floor_offset + 1 end$sql$, p_stage)
    into v_known using p_subscription, p_attempts;
  execute format($sql$
    with taken as (
      insert into penstock.once_key as k (scope, key, ref, expires_at)
      select distinct on (s.identity) 'message:' || $1, s.identity, s.job_id::text,
             coalesce(now() + interval '1 second' * ($4 -> s.part ->> 'keep_s')::bigint, 'infinity')
        from penstock.%1$I s left join unnest($3) k on k.job_id = s.job_id
       where s.attempt = any ($2) and s.identity is not null and k.job_id is null order by s.identity, s.job_id
      on conflict (scope, key) do update set ref = excluded.ref, expires_at = excluded.expires_at where k.expires_at <= now()
      returning k.ref::bigint as job_id)
    select $3 || coalesce(array_agg(row(s.job_id, 'replay', null, null)::penstock.ingest_verdict), '{}')
      from penstock.%1$I s left join taken t on t.job_id = s.job_id left join unnest($3) k on k.job_id = s.job_id
     where s.attempt = any ($2) and s.identity is not null and t.job_id is null and k.job_id is null$sql$, p_stage)
    into v_known using p_subscription, p_attempts, v_known, p_positions;
  return v_known;
end
$$;
