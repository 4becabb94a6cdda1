-- fn_job_heartbeat: this incarnation lives and still works on its jobs.
--   p_executor_id, p_incarnation  who beats; only leases of this incarnation are extended, those with less than half
--                                 left, and never past started_at + the kind's timeout
--   p_job_ids, p_tokens           what the process believes to hold; a lease it does not know of, because the answer
--                                 of its claim was lost on the way, is not extended. Null: all its leases are
--   returns                       of those given, the ones to abandon: cancelled, or lost
--   writes                        queue_heartbeat, job_queue
--   locks                         job_queue rows, skipping locked ones: they are just being reported
create or replace function penstock.fn_job_heartbeat(
  p_executor_id text, p_incarnation uuid, p_job_ids bigint[] default null, p_tokens bigint[] default null)
returns table (job_id bigint, reason text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_executor penstock.executor := penstock.executor_checked(p_executor_id);
  v_rules bigint[] := array(select s.subscription_id from penstock.job_subscription s where s.executor_id = p_executor_id);
begin
  if p_job_ids is not null then
    perform penstock.job_pairs_check(p_job_ids, p_tokens, null);
  end if;
  perform penstock.heartbeat_write(v_executor, p_incarnation);
  with due as (
    select q.ctid as place, l.lease, l.limit_at
      from penstock.job_queue q
     cross join lateral (
       select penstock.config_for_kind('queue.lease_ms', q.job_kind, 60000) * interval '1 millisecond' as lease,
              q.started_at + penstock.config_for_kind('queue.timeout_ms', q.job_kind, 900000) * interval '1 millisecond' as limit_at) l
     where q.rule = any (v_rules) and q.leased_by = p_incarnation and q.status in ('leased', 'running')
       and q.lease_until < clock_timestamp() + l.lease / 2
       and (l.limit_at is null or q.lease_until < l.limit_at)
       and (p_job_ids is null or (q.job_id, q.lease_token) in (select x.job_id, x.token from unnest(p_job_ids, p_tokens) x(job_id, token)))
       for update of q skip locked)
  update penstock.job_queue q set lease_until = least(clock_timestamp() + d.lease, d.limit_at)
    from due d where q.ctid = d.place;
  return query
    select x.job_id, case when q.job_id is null then 'lost' else 'cancelled' end
      from unnest(p_job_ids, p_tokens) x(job_id, token)
      left join penstock.job_queue q on q.job_id = x.job_id and q.lease_token = x.token and q.status in ('leased', 'running')
     where q.job_id is null or q.cancel_requested;
end
$$;
