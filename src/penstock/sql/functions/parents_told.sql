-- parents_told: tell jobs that wait for an execution that it has ended, where the job that was to do so has come to nothing,
--   or nobody has claimed it for a minute: it is cancelled then.
--   p_limit  at most this many
--   returns  how many had waited. It is in the trail of each, and the dead letter of what should have told them is closed
--   writes   as fn_job_child_ended, execution_event, job_dead_letter, job_queue, job_outcome
--   locks    job_workflow rows by id, then job_queue rows by job_id, skipping locked ones
create or replace function penstock.parents_told(p_limit integer) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_children bigint[] := array(
    select w.execution_id from penstock.job_workflow w
     where w.answer_job is not null and w.finished_at is not null
       and not exists (select from penstock.job_queue a where a.job_id = w.answer_job
                          and (a.status <> 'ready' or w.finished_at > now() - interval '1 minute'))
     order by w.execution_id limit p_limit);
  v_wanted bigint[];
  v_free bigint[];
  v_jobs bigint[];
  v_one penstock.job_workflow;
  v_told integer := 0;
begin
  if v_children = '{}' then
    return 0;
  end if;
  perform penstock.partition_ensure('job_outcome', clock_timestamp());
  v_wanted := v_children || array(select w.parent_execution from penstock.job_workflow w where w.execution_id = any (v_children));
  v_free := array(select w.execution_id from penstock.job_workflow w where w.execution_id = any (v_wanted)
                   order by w.execution_id for update skip locked);
  v_jobs := array(select q.job_id from penstock.job_queue q
                   where q.job_id in (select unnest(array[w.parent_job, w.answer_job]) from penstock.job_workflow w
                                       where w.execution_id = any (v_children))
                   order by q.job_id for update skip locked);
  for v_one in
    select w.* from penstock.job_workflow w
     where w.execution_id = any (v_children) and w.execution_id = any (v_free) and w.answer_job is not null
       -- a parent of one step has no workflow
       and not exists (select from penstock.job_workflow p where p.execution_id = w.parent_execution and p.execution_id <> all (v_free))
       and not exists (select from penstock.job_queue q where q.job_id in (w.parent_job, w.answer_job) and q.job_id <> all (v_jobs))
       and not exists (select from penstock.job_queue a where a.job_id = w.answer_job and a.status <> 'ready')
     order by w.execution_id
  loop
    begin
      if penstock.fn_job_child_ended(v_one.execution_id) then
        v_told := v_told + 1;
        perform penstock.happened(v_one.parent_job, 'child_told_by_tick', 'system:playbook',
          jsonb_build_object('execution', v_one.execution_id, 'instead_of', v_one.answer_job));
        update penstock.job_dead_letter d set resolved_at = now(), resolved_by = 'system:playbook', resolution = 'told_by_tick'
         where d.job_id = v_one.answer_job and d.resolved_at is null;
        with gone as (delete from penstock.job_queue a where a.job_id = v_one.answer_job returning a.*)
        insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, attempt, status, reason)
        select g.job_id, clock_timestamp(), 0, g.enqueued_at, g.attempt, 'cancelled', 'told_by_tick' from gone g;
      end if;
    exception when others then
      raise warning 'job % could not be told that execution % has ended: %', v_one.parent_job, v_one.execution_id, sqlerrm;
    end;
  end loop;
  return v_told;
end
$$;
