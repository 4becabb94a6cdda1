-- playbook_targets: how executions of these playbooks are asked for, each at its newest version.
--   p_paths  playbooks; those that are not in the catalog are left out
--   reads    catalog
create or replace function penstock.playbook_targets(p_paths text[]) returns penstock.playbook_target[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select array(
    select row(c.path, c.path || '@' || c.version, 'tool:' || (s.step #>> '{tool,kind}'), coalesce(s.step ->> 'executor', 'PG_worker'),
               s.step ->> 'pool', s.step ->> 'lane', (s.step #>> '{retry,max_attempts}')::smallint)::penstock.playbook_target
      from unnest(p_paths) p(path)
     cross join lateral (select * from penstock.catalog v where v.path = p.path and v.kind = 'Playbook'
                          order by v.version desc limit 1) c
     cross join lateral (select c.content -> 'workflow' -> 0) s(step))
$$;
