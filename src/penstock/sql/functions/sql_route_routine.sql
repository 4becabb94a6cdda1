-- sql_route_routine: the function or procedure of a call route.
--   refuses  PS011: when there is none of that name, or several; the name may have its argument types behind it
create or replace function penstock.sql_route_routine(p_route penstock.iu_sql_event_route) returns regprocedure
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_found regprocedure[];
begin
  select array_agg(p.oid::regprocedure) into v_found from pg_proc p join pg_namespace s on s.oid = p.pronamespace
   where s.nspname = (p_route).source_schema and s.nspname <> 'penstock' and p.prokind in ('f', 'p')
     and (p_route).source_table in (p.proname, format('%s(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
                                    format('%s(%s)', p.proname, oidvectortypes(p.proargtypes)));
  if coalesce(cardinality(v_found), 0) <> 1 then
    raise exception using errcode = 'PS011', message = format('SQL route %s: %s routines are called %s.%s', (p_route).route_code,
      coalesce(cardinality(v_found), 0), (p_route).source_schema, (p_route).source_table),
      hint = 'With its argument types, such as pay(integer, text), one of several is meant.';
  end if;
  return v_found[1];
end
$$;
