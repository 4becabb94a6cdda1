-- cursors_watch: a reader of the event log that stands still while there is something to read becomes an event, once each time; so
-- does one that moves and lags, once an hour.
--   returns  how many stand still or lag
--   writes   once_key, event_outbox
create or replace function penstock.cursors_watch() returns integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_cursor record;
  v_count integer := 0;
begin
  for v_cursor in select * from penstock.v_event_cursor c where c.is_stalled or c.is_lagging loop
    v_count := v_count + 1;
    if not v_cursor.is_stalled then
      perform penstock.system_event_once('cursor_lagging', 'event_cursor', v_cursor.cursor_name,
        jsonb_build_object('oldest_unread_at', v_cursor.oldest_unread_at),
        format('%s:%s', v_cursor.cursor_name, extract(epoch from date_trunc('hour', now()))));
      continue;
    end if;
    perform penstock.system_event_once('cursor_stalled', 'event_cursor', v_cursor.cursor_name,
      jsonb_build_object('since', v_cursor.moved_at), format('%s:%s', v_cursor.cursor_name, extract(epoch from v_cursor.moved_at)));
  end loop;
  return v_count;
end
$$;
