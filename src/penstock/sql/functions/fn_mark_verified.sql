-- fn_mark_verified: the marks of these documents were looked at, and cover each once, in order.
--   returns  how many documents may be cut now that could not before
--   writes   iu_staging_record
create or replace function penstock.fn_mark_verified(p_staging_ids bigint[]) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return penstock.staging_move(p_staging_ids, 'marked', 'mark_verified');
end
$$;
