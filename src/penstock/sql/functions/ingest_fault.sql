-- ingest_fault: why a message cannot become an execution; null when it can.
--   p_fault     what the pipeline found already
--   p_allowed   playbooks the subscription may start; p_known those of them that are in the catalog
--   p_pools     pools it may use, and that exist; a null pool is the subscription's own
--   p_is_json   whether the body must be JSON; a message without a body (a tombstone) has nothing to be read
create or replace function penstock.ingest_fault(
  p_fault text, p_playbook text, p_pool text, p_body bytea, p_allowed text[], p_known text[], p_pools text[], p_is_json boolean)
returns text
language sql immutable
return case
  when p_fault is not null then p_fault
  when p_playbook <> all (p_allowed) then 'playbook_not_allowed'
  when p_playbook <> all (p_known) then 'playbook_gone'
  when p_pool is not null and p_pool <> all (p_pools) then 'pool_not_allowed'
  when p_is_json and p_body is not null and not penstock.bytes_are_json(p_body) then 'bad_json'
end;
