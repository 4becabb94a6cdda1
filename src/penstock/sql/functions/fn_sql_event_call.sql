-- fn_sql_event_call: call the routine of a call route, with the caller's own rights, and record that it was called.
--   p_args   its arguments by name; keep_refs of the route's contract are taken from them
--   p_actor  on whose behalf; null is the caller itself
--   returns  what it returned; of a procedure its OUT arguments, or null
--   refuses  an unknown route or argument (PS011). A route that is disabled calls, and records nothing
create or replace function penstock.fn_sql_event_call(p_route_code text, p_args jsonb default null, p_actor text default null) returns jsonb
language plpgsql as $$
declare
  v_call record;
  v_given record;
  v_result jsonb;
begin
  v_call := penstock.sql_call_statement(p_route_code, p_args);
  if not v_call.gives then
    execute v_call.statement using p_args;
  elsif v_call.statement like 'call %' then
    execute v_call.statement into v_given using p_args;
    v_result := to_jsonb(v_given);
  else
    execute v_call.statement into v_result using p_args;
  end if;
  perform penstock.sql_call_done(p_route_code, p_args, p_actor);
  return v_result;
end
$$;
