-- history_sweep: forget executions whose time is over, a little at a time: see history_begins.
--   p_limit  at most so many executions, inputs and results are looked at, and five times as many steps
--   returns  how many of each went; where the next look at inputs and results begins; more: whether there is more to do
--   locks    job_workflow and job_workflow_gone rows, skipping locked ones
create or replace function penstock.history_sweep(p_limit integer) returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_before timestamptz := penstock.history_begins();
  v_last jsonb := coalesce((select t.report -> 'did' from penstock.queue_tick_part t where t.part = 'history'), '{}');
  v_executions integer := penstock.workflows_forget(v_before, p_limit);
  v_steps integer := penstock.steps_forget(5 * p_limit);
  v_more boolean := v_executions = p_limit or v_steps = 5 * p_limit;
  v_inputs record;
  v_results record;
begin
  -- what is left of workflows first: a result is looked for among the steps of all that are not gone
  if v_more then
    return v_last || jsonb_build_object('executions', v_executions, 'steps', v_steps, 'inputs', 0, 'results', 0, 'more', true);
  end if;
  select * into v_inputs from penstock.inputs_forget(v_before, coalesce((v_last ->> 'inputs_after')::bigint, 0), p_limit);
  select * into v_results from penstock.results_forget(v_before, coalesce((v_last ->> 'results_after')::bigint, 0), p_limit);
  return jsonb_build_object(
    'executions', v_executions, 'steps', v_steps, 'inputs', v_inputs.gone, 'inputs_after', v_inputs.after, 'results', v_results.gone,
    'results_after', v_results.after, 'more', p_limit in (v_inputs.gone, v_results.gone));
end
$$;
