-- fn_event_mark_read: these events are read by this recipient. Those it is not to read are passed over.
--   returns  how many were marked now
--   writes   event_read
create or replace function penstock.fn_event_mark_read(p_recipient_ref text, p_event_ids uuid[]) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_recipient penstock.actor_ref := penstock.actor_checked(p_recipient_ref);
  v_count integer;
begin
  perform penstock.partition_ensure('event_read', now());
  insert into penstock.event_read (recipient_ref, event_id)
  select v_recipient, e.event_id from penstock.event_outbox e
   where e.event_id = any (p_event_ids)
     and exists (select from penstock.event_recipients(e) r where r.recipient_ref = v_recipient)
     and not exists (select from penstock.event_read d where d.recipient_ref = v_recipient and d.event_id = e.event_id);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
