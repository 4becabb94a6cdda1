-- cursor_taken: the cursor, held by this transaction, with the tick its batch ends at.
--   returns  null when another transaction holds it; goal_tick_id is null when no tick has come since, and nothing is held then
--   refuses  an unknown cursor (PS011), a copy restored into another cluster (PS024)
--   locks    event_cursor, without waiting: one reader at a time. Never the events
create or replace function penstock.cursor_taken(p_cursor text) returns penstock.event_cursor
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_cursor penstock.event_cursor;
begin
  perform penstock.outbox_guard();
  select * into v_cursor from penstock.event_cursor c where c.cursor_name = p_cursor;
  if v_cursor.cursor_name is null then
    raise exception using errcode = 'PS011', message = format('there is no cursor %L', p_cursor);
  elsif v_cursor.goal_tick_id is null and not exists (select from penstock.outbox_tick t where t.tick_id > v_cursor.tick_id) then
    return v_cursor;  -- nothing to read, and so nothing to hold
  end if;
  select * into v_cursor from penstock.event_cursor c where c.cursor_name = p_cursor for update skip locked;
  if v_cursor.cursor_name is not null and v_cursor.goal_tick_id is null then
    -- not one of this transaction's own: it may write events after it
    select max(t.tick_id) into v_cursor.goal_tick_id from penstock.outbox_tick t
     where t.tick_id > v_cursor.tick_id
       and t.tx_id is distinct from penstock.tx_shifted(pg_current_xact_id_if_assigned(), (select b.base from penstock.outbox_base b));
  end if;
  return v_cursor;
end
$$;
