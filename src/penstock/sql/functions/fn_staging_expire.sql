-- fn_staging_expire: tell once of each document that has been in staging for longer than markcut.staging.keep_days.
--   returns  how many events, up to p_limit
--   locks    iu_staging_record, without waiting
--   writes   iu_staging_record, event_outbox
create or replace function penstock.fn_staging_expire(p_limit integer default 1000) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_refs text[];
  v_payloads jsonb[];
begin
  with due as (
    select r.staging_id from penstock.iu_staging_record r
     where r.expired_at is null
       and r.staged_at < now() - penstock.config_text('markcut.staging.keep_days', '15')::integer * interval '1 day'
     order by r.staged_at limit p_limit for update skip locked),
  gone as (
    update penstock.iu_staging_record r set expired_at = now() from due where r.staging_id = due.staging_id
    returning r.staging_id, r.run, r.document)
  select array_agg(g.run || ':' || g.document order by g.staging_id),
         array_agg(jsonb_build_object('staging_id', g.staging_id, 'run', g.run, 'document', g.document) order by g.staging_id)
    into v_refs, v_payloads from gone g;
  perform penstock.events_insert('staging', 'record_expired', 'penstock.iu_staging_record', v_refs, v_payloads, 'system:staging', null);
  return coalesce(cardinality(v_refs), 0);
end
$$;
