-- consumers_paced: jobs of a consumer with a rate wait for their time, one after the other.
--   p_jobs   new ones, of any consumers
--   returns  the same, each with its process_after
--   writes   consumer_registry (rate_at: when the next one may run)
create or replace function penstock.consumers_paced(p_jobs penstock.job_request[]) returns penstock.job_request[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_consumer penstock.consumer_registry;
  v_at timestamptz;
begin
  for v_consumer in
    select * from penstock.consumer_registry c where c.rate_per_s is not null and c.enabled order by c.consumer_id for update
  loop
    v_at := greatest(v_consumer.rate_at, now());
    for i in 1..cardinality(p_jobs) loop
      if (p_jobs[i]).actor = 'consumer:' || v_consumer.consumer_id then
        p_jobs[i].process_after := v_at;
        v_at := v_at + interval '1 second' / v_consumer.rate_per_s::float8;
      end if;
    end loop;
    update penstock.consumer_registry c set rate_at = v_at where c.consumer_id = v_consumer.consumer_id;
  end loop;
  return p_jobs;
end
$$;
