-- fn_job_list: the newest jobs that match, by reads that stay bounded however long the history is.
--   p_status, p_kind, p_pool  only these; null for all
--   p_before                  only jobs of a lower id: how a reader turns the page
--   p_limit                   at most this many, 1 to 1,000
--   returns                   one row: the ids, highest first, and before which id to go on, null when nothing is left.
--                             It looks at 100,000 rows at most: fewer ids than asked for and an id to go on from say so
--   reads                     job_queue for live states, job_dead_letter or job_outcome for ended ones, else job
create or replace function penstock.fn_job_list(
  p_status text default null, p_kind text default null, p_pool text default null, p_before bigint default null,
  p_limit integer default 50) returns table (job_ids bigint[], next_before bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  c_most_rows constant integer := 100000;
  v_before bigint := coalesce(p_before, 9223372036854775807);
  v_rows refcursor;
  v_seen integer := 0;
  v_id bigint;
  v_fits boolean;
begin
  if p_status <> all (enum_range(null::penstock.job_status)::text[]) or p_limit not between 1 and 1000 then
    raise exception using errcode = 'PS011', message = format('%s jobs of status %L cannot be listed', p_limit, p_status),
      hint = 'A list holds 1 to 1,000 jobs of: ' || array_to_string(enum_range(null::penstock.job_status), ', ');
  end if;
  if p_status is null then
    open v_rows for
      select j.job_id, (j.job_kind, j.pool) = (coalesce(p_kind, j.job_kind), coalesce(p_pool, j.pool))
        from penstock.job j where j.job_id < v_before order by j.job_id desc limit c_most_rows;
  elsif p_status = 'dead_lettered' then
    open v_rows for
      select d.job_id, d.job_kind = coalesce(p_kind, d.job_kind) and (p_pool is null or d.snapshot ->> 'pool' = p_pool)
        from penstock.job_dead_letter d where d.job_id < v_before order by d.job_id desc limit c_most_rows;
  elsif p_status in ('succeeded', 'cancelled') then
    open v_rows for
      select o.job_id, o.status::text = p_status and (p_kind is null and p_pool is null or exists (
               select from penstock.job j where j.job_id = o.job_id and j.enqueued_at = o.enqueued_at
                  and (j.job_kind, j.pool) = (coalesce(p_kind, j.job_kind), coalesce(p_pool, j.pool))))
        from penstock.job_outcome o where o.job_id < v_before order by o.job_id desc limit c_most_rows;
  elsif p_status in ('leased', 'running') then
    -- they have an index of their own, and are not to be looked for among a million that wait
    open v_rows for
      select q.job_id, (q.status::text, q.job_kind, q.pool) = (p_status, coalesce(p_kind, q.job_kind), coalesce(p_pool, q.pool))
        from (select * from penstock.job_queue h where h.status in ('leased', 'running') offset 0) q
       where q.job_id < v_before order by q.job_id desc limit c_most_rows;
  else
    open v_rows for
      select q.job_id, (q.status::text, q.job_kind, q.pool) = (p_status, coalesce(p_kind, q.job_kind), coalesce(p_pool, q.pool))
        from penstock.job_queue q where q.job_id < v_before order by q.job_id desc limit c_most_rows;
  end if;
  job_ids := '{}';
  while next_before is null loop
    fetch v_rows into v_id, v_fits;
    exit when not found;
    v_seen := v_seen + 1;
    job_ids := case when v_fits then job_ids || v_id else job_ids end;
    next_before := case when v_seen = c_most_rows or cardinality(job_ids) = p_limit then v_id end;
  end loop;
  close v_rows;
  return next;
end
$$;
