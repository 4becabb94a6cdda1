-- job_request_once: of requests with idempotency keys, keep those that are the first of their kind and key.
--   p_rows   requests; those without a key always stay
--   p_scope  where keys are unique; null: within their kind
--   returns  the requests to write; the job of every other stands in once_key
--   writes   once_key, in (scope, key) order; an expired row is taken over in place
create or replace function penstock.job_request_once(p_rows penstock.job_request[], p_scope text default null)
returns penstock.job_request[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_expires timestamptz := now() + penstock.config_text('queue.once_key.ttl_s.job', '2592000')::bigint * interval '1 second';
  v_new bigint[];
begin
  with first as (
    select distinct on (coalesce(p_scope, 'job:' || r.kind) collate "C", r.idempotency_key collate "C")
           coalesce(p_scope, 'job:' || r.kind) collate "C" as scope, r.idempotency_key collate "C" as key, r.job_id
      from unnest(p_rows) r where r.idempotency_key is not null
     order by coalesce(p_scope, 'job:' || r.kind) collate "C", r.idempotency_key collate "C", r.ordinal
  ), taken as (
    insert into penstock.once_key as k (scope, key, ref, expires_at)
    select f.scope, f.key, f.job_id::text, v_expires from first f order by f.scope, f.key
    on conflict (scope, key) do update set ref = excluded.ref, expires_at = excluded.expires_at
      where k.expires_at <= now()
    returning k.ref
  )
  select array_agg(t.ref::bigint) into v_new from taken t;
  if cardinality(v_new) = cardinality(p_rows) then
    return p_rows;
  end if;
  -- a join: an array of thousands is searched from its start for every row
  return array(select r from unnest(p_rows) r left join unnest(v_new) n(job_id) on n.job_id = r.job_id
                where r.idempotency_key is null or n.job_id is not null order by r.ordinal);
end
$$;
