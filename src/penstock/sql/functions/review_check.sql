-- review_check: refuse a review of what has not run dry since it was set up.
create or replace function penstock.review_check(p_what text, p_has_run_dry boolean) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if not p_has_run_dry then
    raise exception using errcode = 'PS026', message = format('%s has not run dry since it was registered: there is nothing to review',
      p_what), hint = 'Enable it as a dry run, and let an event come.';
  end if;
end
$$;
