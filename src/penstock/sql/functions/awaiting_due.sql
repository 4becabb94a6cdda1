-- awaiting_due: jobs that wait for a time, or for an answer until one: it has come.
--   p_limit  at most this many, the longest due first
--   returns  how many
--   locks    job_workflow rows by id, then job_queue rows by job_id, skipping locked ones
create or replace function penstock.awaiting_due(p_limit integer) returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_due bigint[] := array(select q.job_id from penstock.job_queue q where q.status = 'awaiting' and q.process_after <= v_now
                           order by q.process_after limit p_limit);
  v_wanted bigint[];
  v_free bigint[];
  v_resumed bigint[];
  v_expired bigint[];
begin
  if v_due = '{}' then
    return 0;
  end if;
  v_wanted := array(select distinct q.execution_id from penstock.job_queue q where q.job_id = any (v_due) and q.execution_id is not null);
  v_free := array(select w.execution_id from penstock.job_workflow w where w.execution_id = any (v_wanted)
                   order by w.execution_id for update skip locked);
  select array_agg(d.job_id) filter (where d.on_due = 'resume'), array_agg(d.job_id) filter (where d.on_due = 'expire')
    into v_resumed, v_expired
    from (select q.job_id, a.on_due from penstock.job_queue q join penstock.job_await a on a.job_id = q.job_id
           where q.job_id = any (v_due) and q.status = 'awaiting' and q.process_after <= v_now
             and (q.execution_id is null or q.execution_id = any (v_free))
           order by q.job_id for update of q skip locked) d;
  if v_resumed is not null then
    perform penstock.awaiting_done(v_resumed, null);
  end if;
  if v_expired is not null then
    perform penstock.awaiting_failed(v_expired, 'deadline', '{"type": "Deadline", "message": "nobody answered in time"}');
  end if;
  return coalesce(cardinality(v_resumed), 0) + coalesce(cardinality(v_expired), 0);
end
$$;
