-- family_moved: cancel, pause or resume executions, where their state allows it; and what they have started meanwhile.
--   p_family  executions whose workflows the caller has locked
--   writes    execution_event, and as execution_cancelled, execution_paused, execution_resumed
create or replace function penstock.family_moved(p_family bigint[], p_action text, p_actor penstock.actor_ref) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_one bigint;
  v_more bigint[];
begin
  for v_one in
    select w.execution_id from penstock.job_workflow w
     where w.execution_id = any (p_family)
       and w.status = any (case p_action when 'cancel' then array['running', 'paused', 'cancelling'] when 'pause' then array['running']
                                         else array['paused'] end)
     order by w.execution_id
  loop
    perform penstock.happened(v_one, 'execution_' || p_action, p_actor);
    case p_action
      when 'cancel' then perform penstock.execution_cancelled(v_one);
      when 'pause' then perform penstock.execution_paused(v_one);
      else perform penstock.execution_resumed(v_one);
    end case;
  end loop;
  -- a step that was starting a child when we came is through now, because we hold its job
  v_more := array(select w.execution_id from penstock.job_workflow w
                   where w.parent_execution = any (p_family) and w.parent_job is not null and w.finished_at is null
                     and w.execution_id <> all (p_family));
  if v_more <> '{}' then
    perform penstock.family_moved(penstock.workflow_family(v_more), p_action, p_actor);
  end if;
end
$$;
