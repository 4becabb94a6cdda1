-- fn_event_subscription_set: who reads which events; the same row again only changes p_mute.
--   p_recipient_ref      role:, agency:, user: or agent:
--   p_event_domain       a registered domain
--   p_event_type, p_event_stream  null: any
--   p_mute               true: what this row matches is not for them, and neither is what a broader row would give
--   p_actor              who asks; null is the caller itself
--   p_scope_subject_table  only events about this table
--   p_scope_filter       only events whose payload holds this object
--   writes               event_subscription
create or replace function penstock.fn_event_subscription_set(
  p_recipient_ref text, p_event_domain text, p_event_type text default null, p_event_stream text default null,
  p_mute boolean default false, p_actor text default null, p_scope_subject_table text default null, p_scope_filter jsonb default '{}')
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_actor);
begin
  if not penstock.actor_is_wellformed(p_recipient_ref) or p_recipient_ref !~ '^(role|agency|user|agent):' then
    raise exception using errcode = 'PS004', message = format('%L cannot be a recipient', p_recipient_ref),
      hint = 'A recipient is role:, agency:, user: or agent: and a name without spaces.';
  end if;
  if not exists (select from penstock.event_domain d where d.event_domain = p_event_domain) then
    raise exception using errcode = 'PS012', message = format('event domain %L does not exist', p_event_domain),
      hint = format('An operator makes it with: select penstock.fn_event_domain_register(%L)', p_event_domain);
  end if;
  if p_event_type is not null then
    perform penstock.event_type_checked(p_event_domain, p_event_type, p_event_stream);
  end if;
  if jsonb_typeof(coalesce(p_scope_filter, '{}')) <> 'object' then
    raise exception using errcode = 'PS011', message = 'scope_filter is an object that the payload has to hold';
  end if;
  insert into penstock.event_subscription as s (recipient_ref, event_domain, event_type, event_stream, scope_subject_table, scope_filter,
    mute, set_by)
  values (p_recipient_ref, p_event_domain, p_event_type, p_event_stream, p_scope_subject_table, coalesce(p_scope_filter, '{}'),
          coalesce(p_mute, false), v_actor)
  on conflict (recipient_ref, event_domain, event_type, event_stream, scope_subject_table, scope_filter)
  do update set mute = excluded.mute, set_by = excluded.set_by, set_at = now();
end
$$;
