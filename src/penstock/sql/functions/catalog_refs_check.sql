-- catalog_refs_check: refuse an entry that names a playbook or a pool that does not exist; the detail is its name.
--   reads  catalog, pool
create or replace function penstock.catalog_refs_check(p_kind text, p_content jsonb) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_missing text;
begin
  select min(r.playbook) into v_missing
    from penstock.catalog_playbooks(p_kind, p_content) r(playbook)
   where not exists (select from penstock.catalog c where c.path = r.playbook and c.kind = 'Playbook');
  if v_missing is not null then
    raise exception using errcode = 'PS016', message = format('the playbook %s is not in the catalog', v_missing),
      detail = v_missing,
      hint = 'Register it first, or in the same file: penstock catalog register FILE';
  end if;
  select min(r.pool) into v_missing
    from penstock.catalog_pools(p_kind, p_content) r(pool)
   where not exists (select from penstock.pool p where p.pool = r.pool);
  if v_missing is not null then
    raise exception using errcode = 'PS003', message = format('the pool %s does not exist', v_missing),
      detail = v_missing,
      hint = format('Make it: penstock pool set %s', v_missing);
  end if;
end
$$;
