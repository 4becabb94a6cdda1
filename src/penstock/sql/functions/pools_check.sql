-- pools_check: refuse a list of pools that names one nobody has made (PS003).
--   p_pools  null for all
--   reads    pool
create or replace function penstock.pools_check(p_pools text[]) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_unknown text := (select n from unnest(p_pools) n where not exists (select from penstock.pool p where p.pool = n) limit 1);
begin
  if v_unknown is not null then
    raise exception using errcode = 'PS003', message = format('pool %L does not exist', v_unknown),
      hint = format('An operator makes it with: penstock pool set %s', v_unknown);
  end if;
end
$$;
