-- stage_name: the staging table of one runtime of a subscription.
create or replace function penstock.stage_name(p_subscription text, p_token bigint) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format('ingest_stage_%s_%s', s.subscription_id, p_token) from penstock.subscription s where s.path = p_subscription
$$;
