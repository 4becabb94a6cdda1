-- ingest_dead_letter_locked: lock one open dead letter of a message.
--   returns  its row; refuses an unknown or resolved one with PS014
create or replace function penstock.ingest_dead_letter_locked(p_dead_letter_id bigint) returns penstock.ingest_dead_letter
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_letter penstock.ingest_dead_letter;
begin
  select * into v_letter from penstock.ingest_dead_letter d where d.dead_letter_id = p_dead_letter_id for update;
  perform penstock.dead_letter_check('ingest-' || p_dead_letter_id, v_letter.dead_letter_id is not null, v_letter.resolution,
    v_letter.resolved_by, v_letter.resolved_at);
  return v_letter;
end
$$;
