-- drains_cancel: nobody wants the drains of a subscription that still wait; one that runs is left to its runtime.
--   p_kind  drain:<subscription_id>
--   writes  as fn_job_cancel
--   locks   their job_queue rows; one that is just being claimed is passed over
create or replace function penstock.drains_cancel(p_kind text, p_actor penstock.actor_ref) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_job bigint;
begin
  for v_job in
    select q.job_id from penstock.job_queue q
     where q.job_id = any (array(select d.job_id from penstock.drain_jobs(p_kind) d)) and q.status not in ('leased', 'running')
     order by q.job_id for update skip locked
  loop
    perform penstock.fn_job_cancel(v_job, p_actor, 'its subscription is not drained by the clock any more');
  end loop;
end
$$;
