-- runtime_renewed: a commit has just shown the runtime's token, under its lock: nobody else could renew the lease meanwhile.
--   One that was given back stays so.
--   writes  subscription_runtime
create or replace function penstock.runtime_renewed(p_subscription text) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  update penstock.subscription_runtime r set lease_until = penstock.runtime_until()
   where r.path = p_subscription and r.lease_until is not null
$$;
