-- catalog_playbooks: every playbook a catalog entry may start.
create or replace function penstock.catalog_playbooks(p_kind text, p_content jsonb) returns setof text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select p_content #>> '{spec,dispatch,playbook}' where p_kind = 'Subscription'
  union
  select jsonb_array_elements_text(d -> 'allowed')
    from jsonb_array_elements(coalesce(p_content #> '{spec,headers,directives}', '[]')) d
   where p_kind = 'Subscription' and d ->> 'controls' = 'dispatch.playbook'
$$;
