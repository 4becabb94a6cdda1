-- live_check: refuse to let live what nobody has reviewed (PS026). Live is enabled and not dry_run.
--   p_what     names it in the message
--   p_command  shows what it would do, and keeps the review
create or replace function penstock.live_check(p_what text, p_is_live boolean, p_reviewed_at timestamptz, p_command text) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if p_is_live and p_reviewed_at is null then
    raise exception using errcode = 'PS026', message = format('%s cannot go live: nobody has reviewed its dry run', p_what),
      hint = 'Look at what it would do, then: ' || p_command;
  end if;
end
$$;
