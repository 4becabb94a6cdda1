-- subscription_moves: the whole life of a subscription. What is not here is illegal; from a state to itself is a no-op.
create or replace function penstock.subscription_moves() returns table (action text, from_state text, to_state text)
language sql immutable set search_path = pg_catalog, pg_temp as $$
  values ('activate', 'REGISTERED', 'ACTIVE'), ('activate', 'PAUSED', 'ACTIVE'), ('activate', 'DRAINING', 'ACTIVE'),
         ('activate', 'DEACTIVATED', 'ACTIVE'), ('activate', 'ACTIVE', 'ACTIVE'),
         ('pause', 'ACTIVE', 'PAUSED'), ('pause', 'PAUSED', 'PAUSED'),
         ('resume', 'PAUSED', 'ACTIVE'), ('resume', 'ACTIVE', 'ACTIVE'),
         ('drain', 'ACTIVE', 'DRAINING'), ('drain', 'PAUSED', 'DRAINING'), ('drain', 'DRAINING', 'DRAINING'),
         ('deactivate', 'REGISTERED', 'DEACTIVATED'), ('deactivate', 'ACTIVE', 'DEACTIVATED'),
         ('deactivate', 'PAUSED', 'DEACTIVATED'), ('deactivate', 'DRAINING', 'DEACTIVATED'),
         ('deactivate', 'DEACTIVATED', 'DEACTIVATED')
$$;
