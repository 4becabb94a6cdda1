-- cursor_page: the next events of a cursor that cursor_taken returned.
--   refuses  when a tick it needs is gone (PS011): to go on would skip events
create or replace function penstock.cursor_page(p_cursor penstock.event_cursor, p_limit integer) returns penstock.event_outbox[]
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  v_from pg_snapshot := (select t.snapshot from penstock.outbox_tick t where t.tick_id = (p_cursor).tick_id);
  v_to pg_snapshot := (select t.snapshot from penstock.outbox_tick t where t.tick_id = (p_cursor).goal_tick_id);
begin
  if v_from is null or v_to is null then
    raise exception using errcode = 'PS011', message = format('the cursor %s stands at a tick that is gone', (p_cursor).cursor_name);
  end if;
  return array(select e from penstock.event_page(v_from, v_to, (p_cursor).page_tx, (p_cursor).page_seq, p_limit) e);
end
$$;
