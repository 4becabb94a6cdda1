-- ingest_faults: staged rows that cannot become an execution, and why.
--   p_known  verdicts that are out already
--   reads    catalog, pool
create or replace function penstock.ingest_faults(
  p_stage text, p_attempts text[], p_content jsonb, p_known penstock.ingest_verdict[]) returns penstock.ingest_verdict[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_faults penstock.ingest_verdict[];
  v_is_json boolean := coalesce(p_content #>> '{spec,dispatch,payload_from}', 'message.body') = 'message.json'
    and not penstock.bodies_are_json(p_stage, p_attempts);
begin
  execute format($sql$
    select coalesce(array_agg(row(f.job_id, 'dead', f.reason, null)::penstock.ingest_verdict), '{}')
      from (select s.job_id, penstock.ingest_fault(s.fault, coalesce(s.playbook, $3), s.pool, s.body, $4, $5, $6, $7) as reason
              from penstock.%I s left join unnest($2) k on k.job_id = s.job_id
             where s.attempt = any ($1) and k.job_id is null offset 0) f
     where f.reason is not null$sql$, p_stage)
    into v_faults
    using p_attempts, p_known, p_content #>> '{spec,dispatch,playbook}',
          array(select penstock.catalog_playbooks('Subscription', p_content)),
          penstock.playbooks_known(p_content), penstock.pools_known(p_content), v_is_json;
  return v_faults;
end
$$;
