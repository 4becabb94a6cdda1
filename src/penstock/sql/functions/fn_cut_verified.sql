-- fn_cut_verified: the pieces of these documents were joined, and are the documents.
--   returns  how many documents may leave staging now that could not before
--   writes   iu_staging_record
create or replace function penstock.fn_cut_verified(p_staging_ids bigint[]) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return penstock.staging_move(p_staging_ids, 'cut', 'cut_verified');
end
$$;
