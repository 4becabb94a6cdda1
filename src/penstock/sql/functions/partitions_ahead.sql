-- partitions_ahead: every partitioned table has this month's partition and the next p_ahead.
--   returns  how many were made
create or replace function penstock.partitions_ahead(p_ahead integer default 2) returns integer
language sql set search_path = pg_catalog, pg_temp as $$
  select count(*) filter (where penstock.partition_ensure(t, m.month at time zone 'UTC'))::integer
    from unnest(array['job', 'job_outcome', 'execution_event', 'event_outbox', 'event_read', 'ingest_message']) t,
         generate_series(0, p_ahead) n,
         lateral (select date_trunc('month', now() at time zone 'UTC') + n * interval '1 month' as month) m
$$;
