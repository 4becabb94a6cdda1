-- consumers_paced: remember when the next job of a consumer with a rate may run.
--   p_new   the jobs that were made
--   writes  consumer_registry
create or replace function penstock.consumers_paced(p_new penstock.job_request[]) returns void
language sql volatile set search_path = pg_catalog, pg_temp as $$
  update penstock.consumer_registry c set rate_at = p.last_at + interval '1 second' / c.rate_per_s::float8
    from (select n.actor, max(n.process_after) as last_at from unnest(p_new) n where n.process_after is not null group by n.actor) p
   where 'consumer:' || c.consumer_id = p.actor and c.rate_per_s is not null
$$;
