-- staging_move: documents in staging go from one state to the next.
--   returns  how many did; those in another state stay there
--   locks    iu_staging_record, by staging_id
--   writes   iu_staging_record
create or replace function penstock.staging_move(p_staging_ids bigint[], p_from text, p_to text) returns integer
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_moved integer;
begin
  update penstock.iu_staging_record r set state = p_to
    from (select o.staging_id from penstock.iu_staging_record o
           where o.staging_id = any (p_staging_ids) and o.state = p_from order by o.staging_id for update) l
   where r.staging_id = l.staging_id;
  get diagnostics v_moved = row_count;
  return v_moved;
end
$$;
