-- steps_finished: end these held jobs of workflows as succeeded, and write the jobs that come after them.
--   p_next    per job what it says about where its step goes on (next_fault)
--   returns   the ordinals of those ended, of those with a bad p_next (any, without a workflow), and the lanes they held
--   writes    job_queue, job_outcome, and as steps_end
--   locks     job_workflow rows by id, then job_queue rows; steps that go on plainly take no lock of their workflow: who pauses or
--             cancels one locks all its jobs, and its status is read after ours is locked
create or replace function penstock.steps_finished(
  p_job_ids bigint[], p_tokens bigint[], p_next jsonb[], p_without bigint[], p_rules bigint[],
  out done bigint[], out bad bigint[], out lanes text[])
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_ends penstock.step_end[];
  v_plain penstock.step_start[];
begin
  perform penstock.workflows_locked(p_job_ids, false);
  bad := array(
    select x.ordinality
      from unnest(p_job_ids, p_tokens) with ordinality x(job_id, token, ordinality)
      join penstock.job_queue q on q.job_id = x.job_id
      left join penstock.playbook_step s on s.step_id = q.step_id
     where q.job_id = any (p_job_ids)
       and case when q.execution_id is null then p_next[x.ordinality] is not null
                else (s.plain_next is null or p_next[x.ordinality] is not null)
                     and penstock.next_fault(q.execution_id, q.step_id, q.item, p_next[x.ordinality]) is not null end);
  with gone as (
    delete from penstock.job_queue q
     using (select * from unnest(p_job_ids, p_tokens) with ordinality u(job_id, token, ordinality) order by u.job_id) x
     where q.job_id = any (p_job_ids) and q.job_id = x.job_id and q.lease_token = x.token and q.status in ('leased', 'running')
       and q.execution_id is not null and not q.cancel_requested and (p_rules is null or q.rule = any (p_rules))
       and x.ordinality <> all (p_without) and x.ordinality <> all (bad)
    returning x.ordinality, q.*
  ), ended as (
    insert into penstock.job_outcome (job_id, finished_at, lease_token, enqueued_at, started_at, leased_by, attempt, status)
    select g.job_id, clock_timestamp(), g.lease_token, g.enqueued_at, g.started_at, g.leased_by, g.attempt, 'succeeded' from gone g
  )
  select array_agg(g.ordinality), array_agg(g.lane) filter (where g.lane is not null),
         array_agg(row(g.execution_id, s.plain_next, 1, 0, null, g.job_id, array[g.step_id], null, null, null, false)::penstock.step_start
                   order by g.ordinality) filter (where s.plain_next is not null and g.item = 0),
         array_agg(row(g.execution_id, g.step_id, g.visit, g.item, g.job_id,
                       case when p_next[g.ordinality] @> '{"skipped": true}' then 'skipped' else 'done' end,
                       case when p_next[g.ordinality] ? 'next'
                            then array(select jsonb_array_elements_text(p_next[g.ordinality] -> 'next')) end,
                       p_next[g.ordinality] -> 'items')::penstock.step_end
                   order by g.ordinality) filter (where s.plain_next is null or g.item <> 0)
    into done, lanes, v_plain, v_ends
    from gone g join penstock.playbook_step s on s.step_id = g.step_id;
  if v_plain is not null then
    perform penstock.steps_start(v_plain);
  end if;
  if v_ends is not null then
    perform penstock.steps_end(v_ends);
  end if;
end
$$;
