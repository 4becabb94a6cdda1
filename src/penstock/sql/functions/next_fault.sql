-- next_fault: what is wrong with what a finished job says about where its step goes on; null for nothing.
--   p_next  null, or {"next": [steps]}, {"items": [values]}, {"skipped": true}
--   p_item  0: the step itself; -1: a decision; else an item of its loop, which decides nothing
--   reads   playbook_step, playbook_arc, job_step, dot_config
create or replace function penstock.next_fault(
  p_execution_id bigint, p_step_id bigint, p_item integer, p_next jsonb) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_step penstock.playbook_step;
  v_names text[];
  v_known text[];
begin
  select * into v_step from penstock.playbook_step s where s.step_id = p_step_id;
  if p_next is not null and (jsonb_typeof(p_next) <> 'object' or p_next - array['next', 'items', 'skipped'] <> '{}') then
    return 'expected an object with next, items or skipped';
  end if;
  if p_item > 0 then
    return case when p_next is not null and p_next <> '{}' then 'an item of a loop decides nothing' end;
  end if;
  if p_next @> '{"skipped": true}' then
    return case when p_next ? 'items' or p_next ? 'next' then 'a skipped step goes nowhere' end;
  end if;
  if v_step.is_loop and p_item = 0 then
    return case when jsonb_typeof(p_next -> 'items') is distinct from 'array' then 'a loop needs its items'
                when jsonb_array_length(p_next -> 'items') > penstock.config_text('execution.loop.max_items', '100000')::integer
                then format('a loop of more than %s items', penstock.config_text('execution.loop.max_items', '100000'))
                when octet_length((p_next -> 'items')::text) > penstock.config_text('execution.loop.max_bytes', '16777216')::bigint
                then format('items of more than %s bytes', penstock.config_text('execution.loop.max_bytes', '16777216'))
                when p_next ? 'next' then 'a loop goes on after its items' end;
  elsif p_next ? 'items' then
    return 'only a loop has items';
  end if;
  if not p_next ? 'next' or p_next is null then
    return case when exists (select from penstock.playbook_arc a where a.from_step = p_step_id and a.is_conditional)
                then 'next is missing: where it goes on depends on a condition' end;
  end if;
  if jsonb_typeof(p_next -> 'next') <> 'array' then
    return 'next is no list of steps';
  end if;
  v_names := array(select jsonb_array_elements_text(p_next -> 'next'));
  v_known := array(select t.step from penstock.playbook_arc a join penstock.playbook_step t on t.step_id = a.to_step
                    where a.from_step = p_step_id and a.kind = 'next');
  return case
    when not v_names <@ v_known then format('%s leads to none of %s', v_step.step, array_to_string(v_names, ', '))
    when v_step.is_choice and cardinality(v_names) > 1 then format('%s goes on with one step', v_step.step)
    when not v_step.is_choice and not v_known <@ v_names
    then format('%s goes on with all of %s', v_step.step, array_to_string(v_known, ', '))
    when exists (
      select from penstock.playbook_arc a join penstock.playbook_step t on t.step_id = a.to_step
       where a.from_step = p_step_id and a.kind = 'next' and t.step = any (v_names) and a.max_times <= (
         select count(*) from penstock.job_step j
          where j.execution_id = p_execution_id and j.step_id = a.to_step and j.item = 0 and a.from_step = any (j.via)))
    then format('%s has gone there as often as it may', v_step.step) end;
end
$$;
