-- v_iu_document: every document that was cut: its pieces, and what the handlers of its events last made of it.
create or replace view penstock.v_iu_document as
select d.document, d.revision, d.run, d.pieces, d.size_bytes, encode(d.sha256, 'hex') as sha256, d.cut_at,
       c.revision as composed_revision, encode(c.sha256, 'hex') as composed_sha256,
       a.revision as axis_revision, a.live, a.changed, a.deprecated
  from penstock.iu_document d
  left join penstock.iu_composition c on c.document = d.document
  left join penstock.iu_axis a on a.document = d.document
 where d.staging_id is not null;
