-- history_begins: what ended before is forgotten, with all that was kept of it beside its jobs.
--   returns  the first instant of the oldest month that `job` still has, or execution.keep_days ago if that is later
--   reads    the partitions of job, dot_config
create or replace function penstock.history_begins() returns timestamptz
language sql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO' as $$
  select greatest(
    (select min((regexp_match(pg_get_expr(c.relpartbound, c.oid), 'from \(''([^'']+)''\)', 'i'))[1]::timestamptz)
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'penstock.job'::regclass and not i.inhdetachpending),
    (select now() - make_interval(days => k.days)
       from (select penstock.config_text('execution.keep_days', '0')::integer as days) k where k.days > 0))
$$;
