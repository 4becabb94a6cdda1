-- ingest_duplicates: staged rows whose key was seen within the subscription's window.
--   The key is the directive's, else the message's id, which no header can stand for, together with what makes its part that
--   one: a topic or stream that was made again gives out the same ids. It is kept per path, so a new version or runtime
--   changes nothing.
--   p_positions  the commit's: part to identity
--   p_until      until when a key taken now holds
--   returns      per duplicate the first one's execution
--   writes       once_key, in key order; an expired row is taken over in place
create or replace function penstock.ingest_duplicates(
  p_subscription text, p_stage text, p_attempts text[], p_positions jsonb, p_until timestamptz, p_known penstock.ingest_verdict[])
returns penstock.ingest_verdict[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_scope text := 'dedup:' || p_subscription;
  v_key text := $sql$coalesce('key:' || s.dedup_key,
    'id:' || coalesce(s.identity, concat_ws(':', $4 -> s.part ->> 'identity', s.message_id))) collate "C"$sql$;
  v_first bigint[];
  v_duplicates penstock.ingest_verdict[];
begin
  execute format($sql$
    with first as (
      select distinct on (x.key) x.key, x.job_id
        from (select %2$s as key, s.job_id
                from penstock.%1$I s left join unnest($2) k on k.job_id = s.job_id
               where s.attempt = any ($1) and k.job_id is null) x
       order by x.key, x.job_id
    ), taken as (
      insert into penstock.once_key as k (scope, key, ref, expires_at)
      select $3, f.key, f.job_id::text, $5 from first f order by f.key
      on conflict (scope, key) do update set ref = excluded.ref, expires_at = excluded.expires_at where k.expires_at <= now()
      returning k.ref::bigint as job_id)
    select array_agg(t.job_id) from taken t$sql$, p_stage, v_key)
    into v_first using p_attempts, p_known, v_scope, p_positions, p_until;
  -- a NEW statement: only its snapshot is sure to see the rows the first one collided with
  execute format($sql$
    select coalesce(array_agg(row(s.job_id, 'deduplicated', k.key, k.ref::bigint)::penstock.ingest_verdict), '{}')
      from penstock.%1$I s
      left join unnest($2) v on v.job_id = s.job_id
      left join unnest($5) f(job_id) on f.job_id = s.job_id
      join penstock.once_key k on k.scope = $3 and k.key = %2$s
     where s.attempt = any ($1) and v.job_id is null and f.job_id is null$sql$, p_stage, v_key)
    into v_duplicates using p_attempts, p_known, v_scope, p_positions, v_first;
  return v_duplicates;
end
$$;
