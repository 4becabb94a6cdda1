-- fn_consumer_set: switch a consumer, or note that it was reviewed. A null changes nothing.
--   p_enabled, p_dry_run  live is enabled and not dry_run: it needs a review, and that a dry run since its registration
--   p_reviewed_by         who has looked at the dry run; may be who registered it
--   refuses               an unknown consumer (PS011), a live one without review or dry run (PS026)
--   writes                consumer_registry
create or replace function penstock.fn_consumer_set(
  p_consumer_id text, p_enabled boolean default null, p_dry_run boolean default null, p_reviewed_by text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_consumer penstock.consumer_registry;
  v_is_live boolean;
begin
  select * into v_consumer from penstock.consumer_registry c where c.consumer_id = p_consumer_id for update;
  if v_consumer.consumer_id is null then
    raise exception using errcode = 'PS011', message = format('there is no consumer %L', p_consumer_id);
  end if;
  if p_reviewed_by is not null then
    v_consumer.reviewed_by := penstock.actor_checked(p_reviewed_by);
    v_consumer.reviewed_at := now();
    perform penstock.review_check('consumer ' || p_consumer_id, exists (
      select from penstock.consumer_dispatch d where d.consumer_id = p_consumer_id and d.outcome = 'dry_run'
         and d.dispatched_at >= v_consumer.registered_at));
  end if;
  v_consumer.enabled := coalesce(p_enabled, v_consumer.enabled);
  v_consumer.dry_run := coalesce(p_dry_run, v_consumer.dry_run);
  v_is_live := v_consumer.enabled and not v_consumer.dry_run;
  perform penstock.live_check('consumer ' || p_consumer_id, v_is_live, v_consumer.reviewed_at,
    format('penstock consumer review %s', p_consumer_id));
  update penstock.consumer_registry c
     set enabled = v_consumer.enabled, dry_run = v_consumer.dry_run, reviewed_by = v_consumer.reviewed_by,
         reviewed_at = v_consumer.reviewed_at, live_at = case when v_is_live then coalesce(c.live_at, now()) end
   where c.consumer_id = p_consumer_id;
end
$$;
