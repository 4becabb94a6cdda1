-- v_consumer_registry_active: the consumers that are live.
create or replace view penstock.v_consumer_registry_active as
select c.* from penstock.consumer_registry c where c.enabled and not c.dry_run;
