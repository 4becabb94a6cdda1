-- wake: tell sleeping workers that jobs of these domains are ready. A hint: polling alone is always enough.
--   p_domains  event domains, '' for jobs without one, '_outbox' for events. Of events nobody hears where transactions can be
--              prepared: one that has called NOTIFY cannot be, and a writer whose table has a route did not ask for that
--   writes     the unlogged sequence wake_<domain>, which holds the time of the last NOTIFY: at most one per
--              5 ms and domain, over all sessions, because NOTIFY serialises commits. A transaction older than that
--              neither looks at it nor sets it: its NOTIFY comes when it commits, and speaks for nobody else
create or replace function penstock.wake(p_domains text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now bigint := (extract(epoch from clock_timestamp()) * 1000)::bigint;
  v_is_young boolean := clock_timestamp() < now() + interval '5 ms';
  v_name text;
  v_clock regclass;
begin
  for v_name in
    select distinct coalesce(nullif(d, ''), 'any') from unnest(p_domains) d
     where not exists (select from penstock.dot_config c where c.key = 'queue.notify.bridge_enabled' and c.value <> 'true')
       and (d <> '_outbox' or current_setting('max_prepared_transactions') = '0')
  loop
    v_clock := to_regclass('penstock.wake_' || v_name);
    if v_is_young then
      continue when v_now - coalesce(pg_sequence_last_value(v_clock), 0) between 0 and 4;
      perform setval(v_clock, v_now);
    end if;
    perform pg_notify('queue_wake_' || v_name, '');
  end loop;
end
$$;
