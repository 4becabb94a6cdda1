-- dead_letter_check: refuse a dead letter that is not there, or that somebody has dealt with (PS014).
--   p_id         its prefixed id, for the message
--   p_is_there   false: there is none
--   p_resolution, p_resolved_by, p_resolved_at  of its row; null while it is open
create or replace function penstock.dead_letter_check(
  p_id text, p_is_there boolean, p_resolution text, p_resolved_by text, p_resolved_at timestamptz) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if not p_is_there then
    raise exception using errcode = 'PS014', message = format('dead letter %s does not exist', p_id),
      hint = 'penstock dlq list shows the open ones.';
  elsif p_resolved_at is not null then
    raise exception using errcode = 'PS014',
      message = format('dead letter %s was %s by %s at %s', p_id, p_resolution, p_resolved_by, p_resolved_at);
  end if;
end
$$;
