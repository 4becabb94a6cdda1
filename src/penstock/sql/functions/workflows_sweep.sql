-- workflows_sweep: look after workflows that have no live job and have not ended: what a lost count has stranded goes on.
-- And after jobs that wait for an execution which has ended, and that nobody told.
--   p_limit  how many live workflows are looked at, going on where the last look ended
--   returns  {"after": the last one looked at, "mended": how many, "told": how many jobs}
--   locks    job_workflow rows by id, then job_queue rows by job_id, without waiting
create or replace function penstock.workflows_sweep(p_limit integer) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_after bigint := coalesce((select (t.report #>> '{did,after}')::bigint from penstock.queue_tick_part t where t.part = 'workflows'), 0);
  v_seen bigint[] := array(select w.execution_id from penstock.job_workflow w
                            where w.finished_at is null and w.execution_id > v_after order by w.execution_id limit p_limit);
  v_one bigint;
  v_mended integer := 0;
begin
  for v_one in
    select w.execution_id from penstock.job_workflow w
     where w.execution_id = any (v_seen) and not exists (select from penstock.job_queue q where q.execution_id = w.execution_id)
     order by w.execution_id for update skip locked
  loop
    begin
      v_mended := v_mended + penstock.workflow_mended(v_one)::integer;
    exception when others then
      raise warning 'execution % could not be counted anew: %', v_one, sqlerrm;
    end;
  end loop;
  return jsonb_build_object('after', case when cardinality(v_seen) = p_limit then v_seen[p_limit] else 0 end, 'mended', v_mended,
                            'told', penstock.parents_told(p_limit));
end
$$;
