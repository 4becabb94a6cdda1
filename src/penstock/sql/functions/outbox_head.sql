-- outbox_head: the last event number that was taken, by whomever, committed or not; 0 for none.
create or replace function penstock.outbox_head() returns bigint
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select case when s.is_called then s.last_value else 0 end from penstock.event_seq s
$$;
