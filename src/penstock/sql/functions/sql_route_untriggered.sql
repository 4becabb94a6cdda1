-- sql_route_untriggered: take a route's trigger off every table but p_but. Where it is not ours to drop, or somebody reads, it
-- stays, and its function does nothing there.
create or replace function penstock.sql_route_untriggered(p_trigger text, p_but regclass) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_table regclass;
begin
  for v_table in select g.tgrelid::regclass from pg_trigger g
                  where g.tgname = p_trigger and not g.tgisinternal and g.tgparentid = 0 and g.tgrelid is distinct from p_but loop
    begin
      execute format('drop trigger %I on %s', p_trigger, v_table);
    exception when insufficient_privilege or lock_not_available then
      raise notice 'the trigger % on % stays, and does nothing any more (%)', p_trigger, v_table, sqlerrm;
    end;
  end loop;
end
$$;
