-- fn_cut_write: cut documents at their verified marks, all of these or none. Unchanged pieces keep their rows, and what changes is told.
--   p_staging_ids                the documents; one that is cut already, or of which a later version is, changes nothing
--   p_of, p_positions, p_sha256  the hash of each piece; p_of says of which document
--   returns  {"documents", "superseded", "pieces", "added", "changed", "reordered", "deprecated"}
--   refuses  a document with a piece whose hash is missing (PS011)
--   locks    iu_staging_record by staging_id, then iu_document by its name
--   writes   iu_piece, iu_document, iu_staging_record, event_outbox
create or replace function penstock.fn_cut_write(
  p_staging_ids bigint[], p_of bigint[], p_positions integer[], p_sha256 bytea[], p_actor text default null) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_held bigint[];
  v_ids bigint[];
  v_diff penstock.piece_diff[];
  v_said jsonb;
begin
  select l.held, l.newest into v_held, v_ids from penstock.cut_locked(p_staging_ids) l;
  select coalesce(array_agg(d), '{}') into v_diff from penstock.cut_diff(v_ids, p_of, p_positions, p_sha256) d;
  if exists (select from unnest(v_diff) d where d.sha256 is null or length(d.sha256) <> 32) then
    raise exception using errcode = 'PS011', message = format('piece %s has no hash', (select min(d.address) from unnest(v_diff) d
      where d.sha256 is null or length(d.sha256) <> 32)), hint = 'Every marked piece needs the sha256 of its bytes.';
  end if;
  perform penstock.cut_apply(v_diff);
  update penstock.iu_document t
     set staging_id = r.staging_id, run = r.run, sha256 = r.sha256, size_bytes = r.size_bytes, cut_at = now(),
         pieces = coalesce(n.pieces, 0), revision = t.revision + coalesce(n.is_new, (t.staging_id is null)::integer)
    from penstock.iu_staging_record r
    left join (select d.staging_id, count(*) filter (where not d.is_deprecated) as pieces,
                      bool_or(d.is_added or d.is_changed or d.is_moved or d.is_deprecated)::integer as is_new
                 from unnest(v_diff) d group by d.staging_id) n on n.staging_id = r.staging_id
   where r.staging_id = any (v_ids) and t.document = r.document;
  v_said := penstock.cut_tell(v_diff, v_actor,
    (select min(r.run) from penstock.iu_staging_record r where r.staging_id = any (v_ids)));
  return v_said || jsonb_build_object('documents', cardinality(v_ids), 'superseded', cardinality(v_held) - cardinality(v_ids),
    'pieces', (select count(*) from unnest(v_diff) d where not d.is_deprecated));
end
$$;
