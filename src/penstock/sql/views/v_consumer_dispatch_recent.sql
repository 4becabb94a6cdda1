-- v_consumer_dispatch_recent: what each consumer made of events in the last 24 hours.
create or replace view penstock.v_consumer_dispatch_recent as
select c.consumer_id, coalesce(j.jobs, 0) as dispatched_24h, coalesce(d.dry_run, 0) as dry_run_24h,
       coalesce(d.duplicates, 0) as duplicates_24h, coalesce(l.dead, 0) as dead_lettered_24h
  from penstock.consumer_registry c
  left join (select b.safe_payload ->> 'consumer_id' as consumer_id, count(*) as jobs from penstock.job b
              where b.causation_event_id is not null and b.enqueued_at > now() - interval '24 hours' group by 1) j using (consumer_id)
  left join (select n.consumer_id, count(*) filter (where n.outcome = 'dry_run') as dry_run,
                    count(*) filter (where n.outcome = 'duplicate') as duplicates
               from penstock.consumer_dispatch n where n.dispatched_at > now() - interval '24 hours' group by 1) d using (consumer_id)
  left join (select x.consumer_id, count(*) as dead from penstock.consumer_dead_letter x
              where x.dead_at > now() - interval '24 hours' group by 1) l using (consumer_id);
