-- piece_document_locked: the document a piece belongs to, held so that it is not cut meanwhile.
--   p_address  of one of its pieces, live or deprecated
--   returns    null when there is no such piece
--   locks      iu_document
create or replace function penstock.piece_document_locked(p_address text) returns penstock.iu_document
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_document penstock.iu_document;
begin
  select t.* into v_document from penstock.iu_document t
   where t.document = (select p.document from penstock.iu_piece p where p.address = p_address) for update;
  return v_document;
end
$$;
