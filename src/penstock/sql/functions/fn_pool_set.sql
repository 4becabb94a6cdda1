-- fn_pool_set: make a pool, or change its note.
--   p_pool  lower case, digits, _ and -
--   writes  pool
create or replace function penstock.fn_pool_set(p_pool text, p_note text default null, p_actor text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  if coalesce(p_pool, '') !~ '^[a-z][a-z0-9_-]{0,62}$' then
    raise exception using errcode = 'PS011', message = format('%L cannot be a pool', p_pool),
      hint = 'Use lower-case letters, digits, _ and -, at most 63, beginning with a letter.';
  end if;
  insert into penstock.pool (pool, note, set_by) values (p_pool, p_note, v_actor)
  on conflict (pool) do update set note = coalesce(excluded.note, penstock.pool.note), set_by = excluded.set_by, set_at = now();
end
$$;
