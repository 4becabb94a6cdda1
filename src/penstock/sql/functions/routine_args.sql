-- routine_args: the arguments of a routine, whether it takes or only gives them, needs them, and takes any number of them.
create or replace function penstock.routine_args(p_routine pg_proc)
returns table (name text, type regtype, is_in boolean, is_needed boolean, is_variadic boolean)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select a.name, a.type::regtype, i.is_in,
         -- the last ones that are taken may have defaults
         i.is_in and a.mode is distinct from 'v'
           and count(*) filter (where i.is_in) over (order by a.place) <= (p_routine).pronargs - (p_routine).pronargdefaults,
         coalesce(a.mode = 'v', false)
    from unnest((p_routine).proargnames, coalesce((p_routine).proallargtypes, (p_routine).proargtypes::oid[]), (p_routine).proargmodes)
           with ordinality a(name, type, mode, place)
   cross join lateral (select coalesce(a.mode, 'i') in ('i', 'b', 'v')) i(is_in)
   where coalesce(a.mode, 'i') <> 't'
$$;
