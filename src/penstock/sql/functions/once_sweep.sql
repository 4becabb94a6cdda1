-- once_sweep: forget expired keys, a small batch at a time.
--   returns  how many
--   locks    once_key rows, skipping locked ones
create or replace function penstock.once_sweep(p_limit integer default 1000) returns integer
language sql set search_path = pg_catalog, pg_temp as $$
  with expired as (
    select k.scope, k.key from penstock.once_key k where k.expires_at <= now() limit p_limit for update skip locked
  ), gone as (
    delete from penstock.once_key k using expired e where k.scope = e.scope and k.key = e.key returning 1
  )
  select count(*)::integer from gone
$$;
