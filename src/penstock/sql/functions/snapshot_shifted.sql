-- snapshot_shifted: a snapshot as the event log counts, in which p_own is not visible: a snapshot does not list its own
-- transaction, which may still write.
create or replace function penstock.snapshot_shifted(p_snapshot pg_snapshot, p_base bigint, p_own xid8) returns pg_snapshot
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case when p_base = 0 and p_own >= pg_snapshot_xmax(p_snapshot) then p_snapshot
              else format('%s:%s:%s', least(pg_snapshot_xmin(p_snapshot)::text::bigint, p_own::text::bigint) + p_base,
                          pg_snapshot_xmax(p_snapshot)::text::bigint + p_base, x.open)::pg_snapshot end
    from (select string_agg((i.tx + p_base)::text, ',' order by i.tx) as open
            from (select t::text::bigint from pg_snapshot_xip(p_snapshot) t
                  union select p_own::text::bigint where p_own < pg_snapshot_xmax(p_snapshot)) i(tx)) x
$$;
