-- fn_dead_letter_resolve: close a dead letter without running it again. It stays on record.
--   p_id      the prefixed id of v_dead_letter
--   p_reason  why; required
--   writes    job_dead_letter, ingest_dead_letter, consumer_dead_letter or iu_route_dead_letter
create or replace function penstock.fn_dead_letter_resolve(p_id text, p_actor text default null, p_reason text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
  v_resolution text := 'discarded: ' || left(p_reason, 500);
  v_number bigint;
begin
  if coalesce(trim(p_reason), '') = '' then
    raise exception using errcode = 'PS011', message = format('dead letter %s: say why it is discarded', p_id);
  end if;
  if p_id like 'ingest-%' then
    v_number := (penstock.ingest_dead_letter_locked(penstock.dead_letter_number(p_id, 'ingest'))).dead_letter_id;
    update penstock.ingest_dead_letter d set resolved_at = now(), resolved_by = v_actor, resolution = v_resolution
     where d.dead_letter_id = v_number;
  elsif p_id like 'event-%' then
    v_number := (penstock.consumer_dead_letter_locked(penstock.dead_letter_number(p_id, 'event'))).dead_letter_id;
    update penstock.consumer_dead_letter d set resolved_at = now(), resolved_by = v_actor, resolution = v_resolution
     where d.dead_letter_id = v_number;
  elsif p_id like 'route-%' then
    v_number := (penstock.route_dead_letter_locked(penstock.dead_letter_number(p_id, 'route'))).dead_letter_id;
    update penstock.iu_route_dead_letter d set resolved_at = now(), resolved_by = v_actor, resolution = v_resolution
     where d.dead_letter_id = v_number;
  else
    v_number := (penstock.dead_letter_locked(penstock.dead_letter_number(p_id, 'job'))).dead_letter_id;
    update penstock.job_dead_letter d set resolved_at = now(), resolved_by = v_actor, resolution = v_resolution
     where d.dead_letter_id = v_number;
  end if;
end
$$;
