-- partition_ensure: the month of a partitioned table that holds p_at exists when this returns.
--   p_parent  job, job_outcome, execution_event, event_outbox, …
--   returns   true when it had to be made
--   locks     an advisory lock, so that two makers queue; then the parent, share update exclusive, for at most 2 s
create or replace function penstock.partition_ensure(p_parent text, p_at timestamptz) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_name text := format('%s_y%sm%s', p_parent, to_char(p_at at time zone 'UTC', 'YYYY'),
                        to_char(p_at at time zone 'UTC', 'MM'));
  v_from timestamp;
  v_lock_timeout text := current_setting('lock_timeout');
begin
  if to_regclass('penstock.' || v_name) is not null then
    return false;
  end if;
  perform pg_advisory_xact_lock(hashtext('penstock.partition'));
  begin
    perform set_config('lock_timeout', '2s', true);
    execute format('create table penstock.%I (like penstock.%I including all)', v_name, p_parent);
    -- months of UTC, written so that they are read alike whatever TimeZone and DateStyle the caller has
    v_from := date_trunc('month', p_at at time zone 'UTC');
    execute format('alter table penstock.%I attach partition penstock.%I for values from (%L) to (%L)', p_parent, v_name,
                   to_char(v_from, 'YYYY-MM-DD 00:00:00+00'), to_char(v_from + interval '1 month', 'YYYY-MM-DD 00:00:00+00'));
  exception when duplicate_table then
    return false;  -- made while we waited for the lock; to_regclass would not have heard of it yet
  end;
  perform set_config('lock_timeout', v_lock_timeout, true);
  return true;
end
$$;
