-- lanes_advance: these lanes have just lost their head: name the next one.
--   p_lanes  lanes whose head this transaction deleted
--   locks    job_queue rows by job_id. A lane left empty is locked (advisory, without waiting) and looked at again:
--            an open enqueue that saw the old head may hold a blocked job that no one sees yet
create or replace function penstock.lanes_advance(p_lanes text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_lanes text[] := array(select distinct l.lane from unnest(p_lanes) l(lane));
  v_empty text[];
begin
  perform penstock.lanes_promote(v_lanes);
  v_empty := penstock.lanes_headless(v_lanes);
  if cardinality(v_empty) > 0 then
    perform penstock.lanes_settle(v_empty);
  end if;
end
$$;
