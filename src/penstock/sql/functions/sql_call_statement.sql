-- sql_call_statement: how the routine of a call route is called, with its arguments in $1, and whether that gives something back.
--   refuses  PS011
create or replace function penstock.sql_call_statement(p_route_code text, p_args jsonb, out statement text, out gives boolean)
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
  if jsonb_typeof(p_args) <> 'object' then
    raise exception using errcode = 'PS011', message = format('the arguments of %s are a JSON object, with their names',
      v_routine.oid::regprocedure);
  end if;
  select k into v_unknown from jsonb_object_keys(p_args) k
   where not exists (select from penstock.routine_args(v_routine) a where a.is_in and a.name = k) order by k limit 1;
  if v_unknown is not null then
    raise exception using errcode = 'PS011', message = format('%s has no argument %s', v_routine.oid::regprocedure, v_unknown);
  end if;
  select string_agg(coalesce(nullif(a.name, ''), 'one without a name'), ', ') into v_unknown from penstock.routine_args(v_routine) a
   where a.is_needed and not coalesce(p_args ? a.name, false);
  if v_unknown is not null then
    raise exception using errcode = 'PS011', message = format('%s needs an argument that is not given: %s', v_routine.oid::regprocedure,
      v_unknown);
  end if;
  select string_agg(case
           when not a.is_in then format('%I => null', a.name)
           when a.is_variadic and not coalesce(p_args ? a.name, false) then format('variadic %I => ''{}''::%s', a.name, a.type)
           when a.type in ('json'::regtype, 'jsonb'::regtype) then format('%I => ($1 -> %2$L)::%3$s', a.name, a.name, a.type)
           when t.typcategory = 'A' then format('%4$s%1$I => penstock.array_text($1 -> %2$L, %5$L)::%3$s', a.name, a.name, a.type,
             case when a.is_variadic then 'variadic ' end, t.typelem in ('json'::regtype, 'jsonb'::regtype))
           when t.typtype = 'c' then format('%I => jsonb_populate_record(null::%3$s, $1 -> %2$L)', a.name, a.name, a.type)
           else format('%I => ($1 ->> %2$L)::%3$s', a.name, a.name, a.type) end, ', ')
    into v_args
    from penstock.routine_args(v_routine) a join pg_type t on t.oid = a.type
   -- a procedure is called with its OUT arguments, too, and any number of arguments may be none
   where case when a.is_in then a.is_variadic or p_args ? a.name else v_routine.prokind = 'p' end;
  gives := v_routine.prokind = 'f' or exists (select from unnest(v_routine.proargmodes) m where m in ('o', 'b'));
  statement := format(case when v_routine.prokind = 'p' then 'call %s(%s)'
                     when v_routine.proretset then 'select jsonb_agg(to_jsonb(r)) from %s(%s) r'
                     else 'select to_jsonb(%s(%s))' end,
                format('%I.%I', v_route.source_schema, v_routine.proname), v_args);
end
$$;
