-- cursor_moved: the cursor is past these events, in the transaction that has dealt with them.
--   p_events  what cursor_page returned, in its order
--   p_limit   what it was asked for: fewer are the end of the batch
--   returns   whether there is more: the batch goes on, or another tick has come
--   writes    event_cursor
create or replace function penstock.cursor_moved(p_cursor penstock.event_cursor, p_events penstock.event_outbox[], p_limit integer)
returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_goes_on boolean := cardinality(p_events) >= p_limit;
  v_last penstock.event_outbox := p_events[cardinality(p_events)];
begin
  update penstock.event_cursor c
     set tick_id = case when v_goes_on then c.tick_id else (p_cursor).goal_tick_id end,
         goal_tick_id = case when v_goes_on then (p_cursor).goal_tick_id end,
         page_tx = case when v_goes_on then v_last.tx_id end, page_seq = case when v_goes_on then v_last.seq end, moved_at = now()
   where c.cursor_name = (p_cursor).cursor_name;
  return v_goes_on or exists (select from penstock.outbox_tick t where t.tick_id > (p_cursor).goal_tick_id);
end
$$;
