-- cursor_page: the next events of a cursor that cursor_taken returned.
create or replace function penstock.cursor_page(p_cursor penstock.event_cursor, p_limit integer) returns penstock.event_outbox[]
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select array(
    select e from penstock.outbox_tick a, penstock.outbox_tick b,
         lateral penstock.event_page(a.snapshot, b.snapshot, (p_cursor).page_tx, (p_cursor).page_seq, p_limit) e
     where a.tick_id = (p_cursor).tick_id and b.tick_id = (p_cursor).goal_tick_id)
$$;
