-- fn_dead_letter_replay: replay any dead letter by its prefixed id of v_dead_letter.
--   returns  the prefixed id of what it made: job-<job_id>, or attempt-<attempt_id> of a route that runs dry
create or replace function penstock.fn_dead_letter_replay(p_id text, p_actor text default null) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if p_id like 'ingest-%' then
    return 'job-' || penstock.ingest_replay(penstock.dead_letter_number(p_id, 'ingest'), penstock.actor_checked(p_actor));
  end if;
  if p_id like 'event-%' then
    return penstock.consumer_replay(penstock.dead_letter_number(p_id, 'event'), penstock.actor_checked(p_actor));
  end if;
  if p_id like 'route-%' then
    return penstock.route_replay(penstock.dead_letter_number(p_id, 'route'), p_actor);
  end if;
  return 'job-' || penstock.fn_job_dead_letter_replay(penstock.dead_letter_number(p_id, 'job'), p_actor);
end
$$;
