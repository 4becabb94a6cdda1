-- cut_diff: how the pieces that marks make of documents stand to the live pieces these have, by address and hash.
--   p_staging_ids               the documents, one version of each
--   p_of, p_positions, p_sha256 the hash of each marked piece
--   returns  a row for each piece of the new version, and for each live one that is not in it. Reordered is what stands elsewhere
--            among the pieces that both have: what is put in between or taken away moves nothing
--   reads    iu_staging_record, iu_staging_mark, iu_piece
create or replace function penstock.cut_diff(p_staging_ids bigint[], p_of bigint[], p_positions integer[], p_sha256 bytea[])
returns setof penstock.piece_diff
language sql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
  with record as (
    select r.staging_id, r.document from penstock.iu_staging_record r where r.staging_id = any (p_staging_ids)),
  given as (
    select r.staging_id, r.document, m.address, m.position, m.first_byte, m.end_byte, h.sha256
      from record r join penstock.iu_staging_mark m on m.staging_id = r.staging_id
      left join unnest(p_of, p_positions, p_sha256) h(staging_id, position, sha256)
        on h.staging_id = m.staging_id and h.position = m.position),
  live as (
    -- document by document: without statistics the planner would rather read all pieces there are
    select r.staging_id, r.document, p.piece_id, p.address, p.position, p.sha256
      from record r cross join lateral (
        select l.piece_id, l.address, l.position, l.sha256 from penstock.iu_piece l
         where l.document = r.document and l.position is not null offset 0) p),
  pair as (
    select coalesce(g.staging_id, l.staging_id) as staging_id, coalesce(g.document, l.document) as document, l.piece_id,
           coalesce(g.address, l.address) as address, g.position, l.position as old_position, g.first_byte, g.end_byte,
           coalesce(g.sha256, l.sha256) as sha256, l.sha256 as old_sha256,
           g.address is not null and l.address is not null as is_in_both
      from given g full join live l on l.document = g.document and l.address = g.address)
  select p.staging_id, p.document, p.piece_id, p.address, p.position, p.first_byte, p.end_byte, p.sha256,
         p.piece_id is null, p.is_in_both and p.sha256 <> p.old_sha256, p.is_in_both and p.position <> p.old_position,
         p.is_in_both and row_number() over (partition by p.document, p.is_in_both order by p.position)
                          <> row_number() over (partition by p.document, p.is_in_both order by p.old_position),
         p.position is null
    from pair p
$$;
