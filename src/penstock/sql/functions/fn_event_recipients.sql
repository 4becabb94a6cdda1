-- fn_event_recipients: who is to read an event, and by which rule: exact, type_wildcard, stream_wildcard, domain_only, broadcast.
--   refuses  an unknown event (PS011)
create or replace function penstock.fn_event_recipients(p_event_id uuid) returns table (recipient_ref text, rule text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_event penstock.event_outbox;
begin
  select * into v_event from penstock.event_outbox e where e.event_id = p_event_id;
  if v_event.event_id is null then
    raise exception using errcode = 'PS011', message = format('there is no event %s', p_event_id);
  end if;
  return query select r.recipient_ref::text, r.rule from penstock.event_recipients(v_event) r order by 1;
end
$$;
