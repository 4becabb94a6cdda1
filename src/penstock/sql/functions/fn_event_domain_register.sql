-- fn_event_domain_register: add an event domain of the user's own.
--   p_event_domain  lower case, digits and _, at most 40 characters
--   p_actor         who asks
--   writes          event_domain; makes the sequence that debounces its wake-ups
create or replace function penstock.fn_event_domain_register(p_event_domain text, p_actor text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  if p_event_domain is null or p_event_domain !~ '^[a-z][a-z0-9_]{0,39}$' or p_event_domain = 'any' then
    raise exception using errcode = 'PS011', message = format('%L cannot be an event domain', p_event_domain),
      hint = 'Use lower-case letters, digits and _, at most 40, beginning with a letter; "any" is taken.';
  end if;
  insert into penstock.event_domain (event_domain, registered_by) values (p_event_domain, v_actor)
  on conflict do nothing;
  execute format('create unlogged sequence if not exists penstock.%I', 'wake_' || p_event_domain);
end
$$;
