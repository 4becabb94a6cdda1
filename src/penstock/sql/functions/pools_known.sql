-- pools_known: of the pools a subscription may use, those that exist.
--   reads  pool
create or replace function penstock.pools_known(p_content jsonb) returns text[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select array(select p.pool from penstock.catalog_pools('Subscription', p_content) c(pool) join penstock.pool p using (pool))
$$;
