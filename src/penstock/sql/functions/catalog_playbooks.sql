-- catalog_playbooks: every playbook a catalog entry may start.
create or replace function penstock.catalog_playbooks(p_kind text, p_content jsonb) returns setof text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select p_content #>> '{spec,dispatch,playbook}' where p_kind = 'Subscription'
  union
  select jsonb_array_elements_text(d -> 'allowed')
    from jsonb_array_elements(coalesce(p_content #> '{spec,headers,directives}', '[]')) d
   where p_kind = 'Subscription' and d ->> 'controls' = 'dispatch.playbook'
  union
  select t ->> 'path'
    from jsonb_array_elements(case when p_kind = 'Playbook' then p_content -> 'workflow' else '[]' end) s
   cross join lateral jsonb_array_elements(
     case jsonb_typeof(s -> 'tool') when 'array' then s -> 'tool' else jsonb_build_array(s -> 'tool') end) t
   where t ->> 'kind' = 'playbook'
$$;
