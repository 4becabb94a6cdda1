-- fn_execute_batch: start executions of playbooks; one transaction, a bad request stops no other.
--   p_requests  array of at most 1,000 objects: playbook; payload (an object), idempotency_key, pool, trace, priority,
--               process_after, correlation_id, actor
--   returns     per request its ordinal (from 1), execution_id, status (started | known | refused) and the error
--   refuses     the whole call for an error of the moment, such as a lock that does not come: it may be asked for again
--   writes      as executions_start
create or replace function penstock.fn_execute_batch(p_requests jsonb)
returns table (ordinal integer, execution_id bigint, status text, error text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_targets penstock.playbook_target[];
  v_request record;
  v_good integer[] := '{}';
begin
  if jsonb_typeof(p_requests) is distinct from 'array' or jsonb_array_length(p_requests) not between 1 and 1000 then
    raise exception using errcode = 'PS011', message = 'p_requests is not an array of 1 to 1,000 objects';
  end if;
  begin
    return query select e.ordinal, e.execution_id, case when e.created then 'started' else 'known' end, null::text
                   from penstock.executions_start(p_requests, null) e;
    return;
  exception when others then
    if penstock.error_is_passing(sqlstate) or sqlstate = '55P03' then
      raise;
    end if;
  end;
  -- each alone says which it was; the others are started together again, so that their keys are taken in order
  v_targets := penstock.playbook_targets(array(select distinct r ->> 'playbook' from jsonb_array_elements(p_requests) r));
  for v_request in select r.value, r.ordinality::integer as ordinal from jsonb_array_elements(p_requests) with ordinality r loop
    begin
      perform penstock.execution_rows(jsonb_build_array(v_request.value), v_targets, null);
      v_good := v_good || v_request.ordinal;
    exception when others then
      if penstock.error_is_passing(sqlstate) or sqlstate = '55P03' then
        raise;
      end if;
      return query select v_request.ordinal, null::bigint, 'refused', format('%s: %s', sqlstate, sqlerrm);
    end;
  end loop;
  if cardinality(v_good) > 0 then
    return query select v_good[e.ordinal], e.execution_id, case when e.created then 'started' else 'known' end, null::text
                   from penstock.executions_start((select jsonb_agg(p_requests -> (g - 1) order by g) from unnest(v_good) g), null) e;
  end if;
end
$$;
