-- v_ingest_position: the ledger: which positions of its source each subscription has committed.
create or replace view penstock.v_ingest_position as
select p.path, p.part, p.identity, p.next_offset, p.moved_at, p.floor_offset from penstock.ingest_position p;
