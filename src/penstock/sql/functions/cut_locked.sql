-- cut_locked: of these documents in staging, those that may be cut, held with the documents they become.
--   held     those whose marks are verified and that nobody has cut meanwhile
--   newest   those of them of which no later version was cut already
--   refuses  two versions of one document in a call (PS011)
--   locks    iu_staging_record by staging_id, then iu_document by its name
--   writes   iu_staging_record, and iu_document where the document is new
create or replace function penstock.cut_locked(p_staging_ids bigint[], out held bigint[], out newest bigint[])
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_names text[];
begin
  select coalesce(array_agg(l.staging_id), '{}'), coalesce(array_agg(l.document order by l.document), '{}') into held, v_names
    from (select r.staging_id, r.document from penstock.iu_staging_record r
           where r.staging_id = any (p_staging_ids) and r.state = 'mark_verified' order by r.staging_id for update) l;
  if cardinality(v_names) <> (select count(distinct n) from unnest(v_names) n) then
    raise exception using errcode = 'PS011', message = 'a call cuts one version of each document';
  end if;
  insert into penstock.iu_document (document) select n from unnest(v_names) n order by n on conflict do nothing;
  perform from penstock.iu_document d where d.document = any (v_names) order by d.document for update;
  update penstock.iu_staging_record r set state = 'cut' where r.staging_id = any (held);
  -- a NEW statement: what we waited for is seen only now
  newest := array(select r.staging_id from penstock.iu_staging_record r join penstock.iu_document d on d.document = r.document
                   where r.staging_id = any (held) and coalesce(d.staging_id, 0) < r.staging_id);
end
$$;
