-- fn_piece_recompose: put the document of a piece together anew: its pieces in order, and the hash over all of them.
--   p_address  of one of its pieces
--   returns    {"document", "revision", "composed"}; composed is false when it was put together at this revision already.
--              null when there is no such piece
--   locks      iu_document
--   writes     iu_composition
create or replace function penstock.fn_piece_recompose(p_address text) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_document penstock.iu_document := penstock.piece_document_locked(p_address);
  v_is_due boolean := not exists (select from penstock.iu_composition c
                                   where c.document = v_document.document and c.revision = v_document.revision);
begin
  if v_document.document is null then
    return null;
  end if;
  if v_is_due then
    insert into penstock.iu_composition as c (document, revision, piece_ids, size_bytes, sha256)
    select v_document.document, v_document.revision, coalesce(array_agg(p.piece_id order by p.position), '{}'),
           coalesce(sum(p.size_bytes), 0), sha256(coalesce(string_agg(p.bytes, ''::bytea order by p.position), ''::bytea))
      from penstock.iu_piece p where p.document = v_document.document and p.deprecated_at is null
    on conflict (document) do update
      set revision = excluded.revision, piece_ids = excluded.piece_ids, size_bytes = excluded.size_bytes, sha256 = excluded.sha256,
          composed_at = now();
  end if;
  return jsonb_build_object('document', v_document.document, 'revision', v_document.revision, 'composed', v_is_due);
end
$$;
