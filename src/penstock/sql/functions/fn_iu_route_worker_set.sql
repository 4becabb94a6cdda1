-- fn_iu_route_worker_set: make a route worker, change its domain, or put it to where the log stands now.
--   p_worker_name   letters, digits and _ . -, at most 81
--   p_event_domain  the one domain it serves; null: every domain that has a route
--   p_reset         true: what has come so far is not delivered any more
--   writes          iu_route_worker_cursor, event_cursor, outbox_tick
create or replace function penstock.fn_iu_route_worker_set(
  p_worker_name text, p_event_domain text default null, p_reset boolean default false, p_actor text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  if coalesce(p_worker_name, '') !~ '^[A-Za-z][A-Za-z0-9_.-]{0,80}$' then
    raise exception using errcode = 'PS011', message = format('%L cannot be the name of a route worker', p_worker_name);
  end if;
  if p_event_domain is not null and not exists (select from penstock.event_domain d where d.event_domain = p_event_domain) then
    raise exception using errcode = 'PS012', message = format('event domain %L does not exist', p_event_domain);
  end if;
  insert into penstock.iu_route_worker_cursor as w (worker_name, event_domain, set_by) values (p_worker_name, p_event_domain, v_actor)
  on conflict (worker_name) do update set event_domain = excluded.event_domain, set_by = excluded.set_by, set_at = now();
  insert into penstock.event_cursor as c (cursor_name, tick_id) values ('route:' || p_worker_name, penstock.fn_outbox_tick(true))
  on conflict (cursor_name) do update set tick_id = excluded.tick_id, goal_tick_id = null, page_tx = null, page_seq = null, moved_at = now()
    where p_reset;
end
$$;
