-- runtime_until: until when a runtime that shows its token now holds its subscription.
create or replace function penstock.runtime_until() returns timestamptz
language sql set search_path = pg_catalog, pg_temp as $$
  select clock_timestamp() + penstock.config_text('subscription.lease_ms', '15000')::bigint * interval '1 millisecond'
$$;
