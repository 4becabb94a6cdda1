-- fn_staging_cleanup: documents whose cut is verified leave staging, with their marks.
--   returns  how many did; the others stay
--   writes   iu_staging_record, iu_staging_mark
create or replace function penstock.fn_staging_cleanup(p_staging_ids bigint[]) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_gone integer;
begin
  delete from penstock.iu_staging_record r
   where r.staging_id in (select o.staging_id from penstock.iu_staging_record o
                           where o.staging_id = any (p_staging_ids) and o.state = 'cut_verified' order by o.staging_id for update);
  get diagnostics v_gone = row_count;
  return v_gone;
end
$$;
