-- consumers_dispatch: make of events what the consumers want of them.
--   p_consumer  only this one; null: all that are enabled
--   returns     {"jobs", "dry_run", "duplicates", "failed"}: how many of each
--   writes      once_key, job, job_queue, consumer_dispatch, consumer_dead_letter, consumer_registry (rate_at)
--   locks       consumer_registry rows with a rate, then once_key (by scope, key)
create or replace function penstock.consumers_dispatch(p_events penstock.event_outbox[], p_consumer text default null) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_plans penstock.consumer_plan[];
  v_asked penstock.job_request[];
  v_new penstock.job_request[];
  v_count bigint[];
begin
  v_plans := penstock.consumer_plans(p_events, p_consumer);
  v_asked := array(select p.request from unnest(v_plans) p where p.fault is null and not p.dry_run order by (p.request).ordinal);
  v_new := penstock.job_request_once(v_asked);
  if cardinality(v_new) > 0 then
    perform penstock.job_insert(penstock.consumers_paced(v_new), p_checked => true);
  end if;
  if cardinality(v_new) < cardinality(v_plans) then
    perform penstock.consumers_noted(v_plans, array(select n.job_id from unnest(v_new) n));
    perform penstock.consumers_failed(v_plans, p_events);
  end if;
  select array[count(*) filter (where p.fault is null and p.dry_run), count(*) filter (where p.fault is not null)]
    into v_count from unnest(v_plans) p;
  return jsonb_build_object('jobs', cardinality(v_new), 'dry_run', v_count[1], 'duplicates', cardinality(v_asked) - cardinality(v_new),
                            'failed', v_count[2]);
end
$$;
