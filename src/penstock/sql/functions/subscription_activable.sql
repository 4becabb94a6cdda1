-- subscription_activable: refuse, in words, what a subscription asks for and this version does not do yet (PS018).
--   reads  subscription, catalog
create or replace function penstock.subscription_activable(p_path text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_spec jsonb;
begin
  select c.content -> 'spec' into v_spec
    from penstock.subscription s join penstock.catalog c on c.path = s.path and c.version = s.version where s.path = p_path;
  if v_spec ->> 'mode' = 'push' then
    raise exception using errcode = 'PS018', message = format('subscription %s is push: this version pulls only', p_path),
      hint = 'It stays registered. Push comes with the gateway.';
  end if;
  if coalesce(v_spec #>> '{spool,mode}', 'off') <> 'off' then
    raise exception using errcode = 'PS018',
      message = format('subscription %s has spool.mode %s: this version has no spool', p_path, v_spec #>> '{spool,mode}'),
      hint = 'Remove the spool: block, or set spool.mode to off: the source keeps what is not committed.';
  end if;
  if v_spec ->> 'source' = 'webhook' then
    raise exception using errcode = 'PS018',
      message = format('subscription %s reads %s: this version reads kafka, nats, pubsub and sources of your own', p_path,
                       v_spec ->> 'source');
  end if;
end
$$;
