-- claim_rooms: fill in how many more jobs each limited rule may hold, and drop the runs of rules that are full.
--   p_runs   the runs of a claim
--   returns  the runs that have room; room is null for a rule without max_parallel. Refuses (PS011) to count above
--            read committed, where the count would use a snapshot older than the lock
--   locks    the limited rules' rows, by id, until the end of the transaction; then counts in a NEW statement, so
--            that no two claims of one rule count the same jobs
create or replace function penstock.claim_rooms(p_runs penstock.claim_run[]) returns penstock.claim_run[]
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from unnest(p_runs) r where r.max_parallel is not null) then
    return p_runs;
  end if;
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = 'PS011', message = 'a rule with max_parallel is claimed under in READ COMMITTED only',
      hint = 'Claim in a transaction of its own, at the isolation level READ COMMITTED.';
  end if;
  perform from penstock.job_subscription s
    where s.subscription_id in (select r.rule from unnest(p_runs) r where r.max_parallel is not null)
    order by s.subscription_id for no key update;
  return array(
    select row(r.pool, r.job_kind, r.event_domain, r.head_priority, r.head_job_id, r.rule, s.priority_floor,
               s.max_parallel, s.room)::penstock.claim_run
      from unnest(p_runs) with ordinality r
      join (select s.subscription_id, s.priority_floor, s.max_parallel,
                   s.max_parallel - (select count(*) from penstock.job_queue q
                                      where q.rule = s.subscription_id and q.status in ('leased', 'running'))::integer as room
              from penstock.job_subscription s
             where s.enabled and s.subscription_id in (select r.rule from unnest(p_runs) r)) s
        on s.subscription_id = r.rule
     where s.room is null or s.room > 0
     order by r.ordinality);
end
$$;
