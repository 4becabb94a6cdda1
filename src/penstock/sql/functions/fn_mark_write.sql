-- fn_mark_write: note where documents are to be cut. What was marked before is replaced, unless it is cut already.
--   p_staging_ids  the documents
--   p_max_bytes    the largest piece these marks allow
--   p_of, p_positions, p_firsts, p_ends, p_addresses  one entry each per mark; p_of says of which document
--   returns  how many documents are marked now
--   refuses  arrays that do not fit (PS011)
--   locks    iu_staging_record, by staging_id
--   writes   iu_staging_mark, iu_staging_record
create or replace function penstock.fn_mark_write(
  p_staging_ids bigint[], p_max_bytes integer, p_of bigint[], p_positions integer[], p_firsts integer[], p_ends integer[],
  p_addresses text[]) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_ids bigint[];
begin
  if cardinality(p_of) <> all (array[cardinality(p_positions), cardinality(p_firsts), cardinality(p_ends), cardinality(p_addresses)])
     or not p_of <@ p_staging_ids then
    raise exception using errcode = 'PS011', message = 'every mark needs its document, which is one of those given, its position, '
      'its first and end byte and its address';
  end if;
  select coalesce(array_agg(l.staging_id), '{}') into v_ids
    from (select r.staging_id from penstock.iu_staging_record r
           where r.staging_id = any (p_staging_ids) and r.state in ('staged', 'marked', 'mark_verified')
           order by r.staging_id for update) l;
  delete from penstock.iu_staging_mark m where m.staging_id = any (v_ids);
  insert into penstock.iu_staging_mark (staging_id, position, first_byte, end_byte, address)
  select g.staging_id, g.position, g.first_byte, g.end_byte, g.address
    from unnest(p_of, p_positions, p_firsts, p_ends, p_addresses) g(staging_id, position, first_byte, end_byte, address)
   where g.staging_id = any (v_ids);
  update penstock.iu_staging_record r set state = 'marked', max_bytes = p_max_bytes where r.staging_id = any (v_ids);
  return cardinality(v_ids);
end
$$;
