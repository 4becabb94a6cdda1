-- fn_piece_axis_refresh: count anew how many pieces of a piece's document live, have changed since they were added, are deprecated.
--   p_address  of one of its pieces
--   returns    {"document", "revision", "live", "changed", "deprecated"}; null when there is no such piece
--   locks      iu_document
--   writes     iu_axis
create or replace function penstock.fn_piece_axis_refresh(p_address text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_document penstock.iu_document := penstock.piece_document_locked(p_address);
  v_axis penstock.iu_axis;
begin
  if v_document.document is null then
    return null;
  end if;
  insert into penstock.iu_axis as a (document, revision, live, changed, deprecated)
  select v_document.document, v_document.revision, count(*) filter (where p.deprecated_at is null),
         count(*) filter (where p.deprecated_at is null and p.changed_at is not null), count(p.deprecated_at)
    from penstock.iu_piece p where p.document = v_document.document
  on conflict (document) do update
    set revision = excluded.revision, live = excluded.live, changed = excluded.changed, deprecated = excluded.deprecated,
        refreshed_at = now()
  returning * into v_axis;
  return to_jsonb(v_axis) - 'refreshed_at';
end
$$;
