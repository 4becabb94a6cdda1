-- catalog_pools: every pool a catalog entry may put work into.
create or replace function penstock.catalog_pools(p_kind text, p_content jsonb) returns setof text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select p_content #>> '{spec,dispatch,execution_pool}' where p_content #> '{spec,dispatch,execution_pool}' is not null
  union
  select jsonb_array_elements_text(d -> 'allowed')
    from jsonb_array_elements(coalesce(p_content #> '{spec,headers,directives}', '[]')) d
   where d ->> 'controls' = 'dispatch.execution_pool'
  union
  select m.value
    from jsonb_array_elements(coalesce(p_content #> '{spec,headers,directives}', '[]')) d, jsonb_each_text(d -> 'map') m
   where d ->> 'controls' = 'priority'
  union
  select s ->> 'pool' from jsonb_array_elements(coalesce(p_content -> 'workflow', '[]')) s where s ? 'pool'
$$;
