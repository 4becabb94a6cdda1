-- job_tables_locked: does somebody else hold, or wait for, a lock that keeps everybody from writing jobs?
create or replace function penstock.job_tables_locked() returns boolean
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select exists (
    select from pg_locks l
     where l.locktype = 'relation' and l.database = (select d.oid from pg_database d where d.datname = current_database())
       and l.pid <> pg_backend_pid() and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
       and l.relation in (select 'penstock.once_key'::regclass union all select 'penstock.job_queue'::regclass
                          union all select 'penstock.consumer_registry'::regclass
                          union all select p.relid from pg_partition_tree('penstock.job') p))
$$;
