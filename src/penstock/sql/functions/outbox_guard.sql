-- outbox_guard: refuse to go on with a log that another cluster wrote: its numbers of transactions mean nothing here.
--   refuses  PS024, until fn_outbox_rebase
--   reads    outbox_tick
create or replace function penstock.outbox_guard() returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  v_tick penstock.outbox_tick;
begin
  select * into v_tick from penstock.outbox_tick t order by t.tick_id desc limit 1;
  if v_tick.system_identifier <> (select c.system_identifier from pg_control_system() c) then
    raise exception using errcode = 'PS024', message = 'the event log was written by another PostgreSQL cluster: '
      'this database was restored from a copy',
      hint = 'When the other one is gone and this one is to go on: penstock event rebase. Nothing is lost meanwhile.';
  end if;
end
$$;
