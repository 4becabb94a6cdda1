-- fn_staging_sweep: remove documents from staging whose time is over, and was said to be.
--   returns  how many, up to p_limit
--   locks    iu_staging_record, without waiting
--   writes   iu_staging_record, iu_staging_mark
create or replace function penstock.fn_staging_sweep(p_limit integer default 1000) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_gone integer;
begin
  delete from penstock.iu_staging_record r
   where r.staging_id in (select o.staging_id from penstock.iu_staging_record o
                           where o.expired_at is not null order by o.expired_at limit p_limit for update skip locked);
  get diagnostics v_gone = row_count;
  return v_gone;
end
$$;
