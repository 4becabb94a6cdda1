-- ingest_dedup_until: until when a dedup key that is taken now holds; null when the subscription does not deduplicate.
--   p_content  the subscription, at the version that counts
create or replace function penstock.ingest_dedup_until(p_content jsonb) returns timestamptz
language sql stable set search_path = pg_catalog, pg_temp as $$
  select now() + interval '1 second' * coalesce((p_content #>> '{spec,dedup,window_s}')::bigint,
           penstock.config_text('queue.once_key.ttl_s.dedup', '86400')::bigint)
   where p_content #> '{spec,dedup}' is not null and p_content #>> '{spec,dedup,enabled}' is distinct from 'false'
$$;
