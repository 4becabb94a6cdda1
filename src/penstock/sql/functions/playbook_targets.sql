-- playbook_targets: how executions of these playbooks are asked for, each at its newest version.
--   p_paths  playbooks; those that are not in the catalog are left out
--   returns  the first step of each. One that is all there is has a step_id only if its jobs need to know it, for a backoff of its own
--   reads    catalog, playbook_step
create or replace function penstock.playbook_targets(p_paths text[]) returns penstock.playbook_target[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select array(
    select row(c.path, c.path || '@' || c.version, s.job_kind, s.executor, s.pool, s.lane, s.max_attempts,
               case when not s.is_single or s.backoff is not null then s.step_id end, s.step, s.is_single)::penstock.playbook_target
      from unnest(p_paths) p(path)
     cross join lateral (select * from penstock.catalog v where v.path = p.path and v.kind = 'Playbook'
                          order by v.version desc limit 1) c
      join penstock.playbook_step s on s.path = c.path and s.version = c.version and s.is_start)
$$;
