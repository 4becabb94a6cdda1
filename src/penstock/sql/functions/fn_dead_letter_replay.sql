-- fn_dead_letter_replay: replay any dead letter by its prefixed id of v_dead_letter.
--   returns  the prefixed id of what it made: job-<job_id>
create or replace function penstock.fn_dead_letter_replay(p_id text, p_actor text default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if p_id like 'ingest-%' then
    return 'job-' || penstock.ingest_replay(penstock.dead_letter_number(p_id, 'ingest'), penstock.actor_checked(p_actor));
  end if;
  return 'job-' || penstock.fn_job_dead_letter_replay(penstock.dead_letter_number(p_id, 'job'), p_actor);
end
$$;
