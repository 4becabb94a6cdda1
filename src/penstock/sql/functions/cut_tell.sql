-- cut_tell: an event for each piece that was added, changed, reordered or deprecated.
--   p_correlation_id  the run
--   returns  {"added", "changed", "reordered", "deprecated"}, how many of each
--   writes   event_outbox
create or replace function penstock.cut_tell(p_diff penstock.piece_diff[], p_actor penstock.actor_ref, p_correlation_id text)
returns jsonb
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_said jsonb := '{}';
  v_type text;
  v_refs text[];
  v_payloads jsonb[];
begin
  foreach v_type in array array['added', 'changed', 'reordered', 'deprecated'] loop
    select array_agg(d.address order by d.document, d.position, d.address),
           array_agg(jsonb_build_object('document', d.document, 'position', d.position, 'sha256', encode(d.sha256, 'hex'))
                     order by d.document, d.position, d.address)
      into v_refs, v_payloads
      from unnest(p_diff) d
     where case v_type when 'added' then d.is_added when 'changed' then d.is_changed when 'reordered' then d.is_reordered
                       else d.is_deprecated end;
    perform penstock.events_insert('piece', 'piece_' || v_type, 'penstock.iu_piece', v_refs, v_payloads, p_actor, p_correlation_id);
    v_said := v_said || jsonb_build_object(v_type, coalesce(cardinality(v_refs), 0));
  end loop;
  return v_said;
end
$$;
