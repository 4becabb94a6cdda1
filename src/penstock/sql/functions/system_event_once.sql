-- system_event_once: an alert in the domain system, once for each key. By functions of the clock, whoever calls them.
--   writes  once_key, event_outbox
create or replace function penstock.system_event_once(p_type text, p_subject_table text, p_subject_ref text, p_payload jsonb, p_key text)
returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_event uuid := gen_random_uuid();
begin
  if penstock.once_take('event:system.' || p_type, p_key, v_event::text, 'event') = v_event::text then
    perform penstock.event_insert(v_event, 'system', p_type, 'alert', p_subject_table, p_subject_ref, p_payload, 'system:queue_tick',
                                  null, null, null);
  end if;
end
$$;
