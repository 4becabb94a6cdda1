-- playbooks_known: of the playbooks a subscription may start, those that are in the catalog.
--   reads  catalog
create or replace function penstock.playbooks_known(p_content jsonb) returns text[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select array(select t.path from unnest(penstock.playbook_targets(array(select penstock.catalog_playbooks('Subscription', p_content)))) t)
$$;
