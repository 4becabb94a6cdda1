-- job_request_check: refuse a batch of requests that holds a bad one; the message names the first.
--   p_rows  the requests, with their defaults filled in
--   reads   pool, event_domain, executor_grant, actor_binding, dot_config
--   Planned once: for a lone request a plan of its own costs more than all the rest.
create or replace function penstock.job_request_check(p_rows penstock.job_request[]) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  v_target record;
  v_hint text;
begin
  -- one query for all that can be asked of many at once: a lone enqueue is made of little else than queries
  for v_target in
    select t.*, exists (select from penstock.pool p where p.pool = t.pool)
                and (t.event_domain is null or exists (
                  select from penstock.event_domain d where d.event_domain = t.event_domain)) as is_known
      from (select r.kind, r.executor, r.pool, r.event_domain, r.actor, min(r.ordinal) as ordinal,
                   count(penstock.job_request_fault(r, m.bytes)) as faults
              from unnest(p_rows) r,
                   (select coalesce((select c.value from penstock.dot_config c where c.key = 'queue.safe_payload.max_bytes'),
                                    '8192')::bigint offset 0) m(bytes)
             group by r.kind, r.executor, r.pool, r.event_domain, r.actor) t
     order by t.ordinal
  loop
    if v_target.faults > 0 then
      perform penstock.job_request_refuse(p_rows);
    end if;
    begin
      if not v_target.is_known then
        perform penstock.job_target_known(v_target.executor, v_target.pool, v_target.event_domain);
      end if;
      perform penstock.job_target_check(v_target.kind, v_target.executor, v_target.actor);
    exception when others then
      get stacked diagnostics v_hint = pg_exception_hint;
      raise exception using errcode = sqlstate, hint = v_hint,
        message = case when cardinality(p_rows) > 1 then format('job %s of the request: ', v_target.ordinal) else '' end || sqlerrm;
    end;
  end loop;
end
$$;
