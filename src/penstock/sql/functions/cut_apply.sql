-- cut_apply: make the pieces of documents what a comparison says they are to be. Unchanged ones keep their rows.
--   writes  iu_piece
create or replace function penstock.cut_apply(p_diff penstock.piece_diff[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  update penstock.iu_piece p set position = null, deprecated_at = now()
    from unnest(p_diff) d where d.is_deprecated and p.piece_id = d.piece_id;
  update penstock.iu_piece p set position = d.position from unnest(p_diff) d where d.is_moved and p.piece_id = d.piece_id;
  update penstock.iu_piece p
     set sha256 = d.sha256, size_bytes = d.end_byte - d.first_byte, changed_at = now(),
         bytes = substring(r.bytes from d.first_byte + 1 for d.end_byte - d.first_byte)
    from unnest(p_diff) d join penstock.iu_staging_record r on r.staging_id = d.staging_id
   where d.is_changed and p.piece_id = d.piece_id;
  -- an address that comes back is the same piece, added again
  insert into penstock.iu_piece as p (document, address, position, size_bytes, sha256, bytes)
  select d.document, d.address, d.position, d.end_byte - d.first_byte, d.sha256,
         substring(r.bytes from d.first_byte + 1 for d.end_byte - d.first_byte)
    from unnest(p_diff) d join penstock.iu_staging_record r on r.staging_id = d.staging_id
   where d.is_added order by d.staging_id, d.position
  on conflict (address) do update
    set position = excluded.position, size_bytes = excluded.size_bytes, sha256 = excluded.sha256, bytes = excluded.bytes,
        added_at = now(), changed_at = null, deprecated_at = null
    where p.document = excluded.document;
end
$$;
