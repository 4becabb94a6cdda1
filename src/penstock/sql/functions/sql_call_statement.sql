-- sql_call_statement: how the routine of a call route is called, with its arguments in $1.
--   refuses  PS011
create or replace function penstock.sql_call_statement(p_route_code text, p_args jsonb) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_route penstock.iu_sql_event_route;
  v_routine pg_proc;
  v_unknown text;
  v_args text;
begin
  select * into v_route from penstock.iu_sql_event_route r where r.route_code = p_route_code and r.sql_event = 'call';
  if v_route.route_code is null then
    raise exception using errcode = 'PS011', message = format('there is no SQL route %L for calls', p_route_code);
  end if;
  select * into v_routine from pg_proc p where p.oid = penstock.sql_route_routine(v_route);
  select k into v_unknown from jsonb_object_keys(p_args) k
   where k <> all (coalesce(v_routine.proargnames[1:v_routine.pronargs], '{}')) order by k limit 1;
  if v_unknown is not null then
    raise exception using errcode = 'PS011', message = format('%s has no argument %s', v_routine.oid::regprocedure, v_unknown);
  end if;
  select string_agg(format('%I => ($1 %s %L)::%s', a.name, case when a.type in ('json'::regtype, 'jsonb'::regtype) then '->' else '->>' end,
                           a.name, a.type::regtype), ', ')
    into v_args
    from unnest(v_routine.proargnames[1:v_routine.pronargs], v_routine.proargtypes::oid[]) a(name, type) where p_args ? a.name;
  return format(case when v_routine.prokind = 'p' then 'call %s(%s)'
                     when v_routine.proretset then 'select jsonb_agg(to_jsonb(r)) from %s(%s) r'
                     else 'select to_jsonb(%s(%s))' end,
                format('%I.%I', v_route.source_schema, v_routine.proname), v_args);
end
$$;
