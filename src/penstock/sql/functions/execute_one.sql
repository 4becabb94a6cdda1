-- execute_one: start one execution of a one-step playbook: one job, and its input where there is one.
--   p_request  as fn_execute_batch says
--   returns    the execution, and whether it was started now or known by its key
--   writes     execution_input, once_key, job, job_queue
create or replace function penstock.execute_one(p_request jsonb) returns table (execution_id bigint, created boolean)
language plpgsql set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_job_id bigint := nextval('penstock.job_id_seq');
  v_target penstock.playbook_target;
  v_request penstock.job_request;
  v_unknown text;
begin
  select min(k) into v_unknown from jsonb_object_keys(p_request) k
   where k not in ('playbook', 'payload', 'idempotency_key', 'pool', 'trace', 'priority', 'process_after', 'correlation_id', 'actor');
  if v_unknown is not null then
    raise exception using errcode = 'PS011', message = format('unknown field %s', v_unknown);
  end if;
  v_target := (penstock.playbook_targets(array[p_request ->> 'playbook']))[1];
  if v_target.path is null then
    raise exception using errcode = 'PS016', message = format('the playbook %s is not in the catalog', p_request ->> 'playbook'),
      hint = 'penstock catalog list shows what is.';
  end if;
  perform penstock.execution_input_check(p_request -> 'payload');
  -- jobs of all playbooks that use a tool are of one kind: the path keeps their keys apart
  v_request := row(1, v_job_id, v_target.job_kind, v_target.path || ':' || (p_request ->> 'idempotency_key'), v_target.executor, null, null,
    case when p_request -> 'payload' is not null then 'penstock://input/' || v_job_id end, null,
    coalesce((p_request ->> 'priority')::integer, 0), (p_request ->> 'process_after')::timestamptz, p_request ->> 'correlation_id', null,
    coalesce(p_request ->> 'actor', 'role:' || penstock.caller()), coalesce(p_request ->> 'pool', v_target.pool, 'shared'),
    v_target.lane, null, p_request ->> 'trace', v_target.max_attempts, null, v_target.ref, null, null)::penstock.job_request;
  select i.job_id, i.created into execution_id, created from penstock.job_insert(array[v_request]) i;
  if created and p_request -> 'payload' is not null then
    insert into penstock.execution_input (execution_id, input) values (execution_id, p_request -> 'payload');
  end if;
  return next;
end
$$;
