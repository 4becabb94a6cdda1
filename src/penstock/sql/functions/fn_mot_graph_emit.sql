-- fn_mot_graph_emit: start an execution of a playbook: its workflow and its first job, in one transaction.
--   p_playbook  its path; the newest version is run
--   p_params    the input, an object
--   p_actor     on whose behalf; null is the caller itself
--   the others  as fn_execute_batch says
--   returns     execution_id; the same one again for the same playbook and key
--   writes      as executions_start
create or replace function penstock.fn_mot_graph_emit(
  p_playbook text, p_params jsonb default null, p_actor text default null, p_idempotency_key text default null, p_pool text default null,
  p_trace text default null, p_correlation_id text default null, p_priority integer default null, p_process_after timestamptz default null)
returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (select e.execution_id from penstock.executions_start(jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
    'playbook', p_playbook, 'actor', p_actor, 'idempotency_key', p_idempotency_key, 'pool', p_pool, 'trace', p_trace,
    'correlation_id', p_correlation_id, 'priority', p_priority, 'process_after', p_process_after))
    || case when p_params is null then '{}' else jsonb_build_object('payload', p_params) end), null) e);
end
$$;
