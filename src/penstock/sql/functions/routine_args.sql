-- routine_args: the arguments of a routine that have a name, and whether it takes or only gives them.
create or replace function penstock.routine_args(p_routine pg_proc) returns table (name text, type regtype, is_in boolean)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select a.name, a.type::regtype, coalesce(a.mode, 'i') in ('i', 'b', 'v')
    from unnest((p_routine).proargnames, coalesce((p_routine).proallargtypes, (p_routine).proargtypes::oid[]), (p_routine).proargmodes)
           a(name, type, mode)
   where a.name <> '' and coalesce(a.mode, 'i') <> 't'
$$;
