-- consumer_dead_letter_locked: lock one open dead letter of an event.
--   returns  its row; refuses an unknown or resolved one with PS014
create or replace function penstock.consumer_dead_letter_locked(p_dead_letter_id bigint) returns penstock.consumer_dead_letter
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_letter penstock.consumer_dead_letter;
begin
  select * into v_letter from penstock.consumer_dead_letter d where d.dead_letter_id = p_dead_letter_id for update;
  if v_letter.dead_letter_id is null then
    raise exception using errcode = 'PS014', message = format('dead letter event-%s does not exist', p_dead_letter_id),
      hint = 'penstock dlq list shows the open ones.';
  end if;
  if v_letter.resolved_at is not null then
    raise exception using errcode = 'PS014', message = format('dead letter event-%s was %s by %s at %s', p_dead_letter_id,
      v_letter.resolution, v_letter.resolved_by, v_letter.resolved_at);
  end if;
  return v_letter;
end
$$;
