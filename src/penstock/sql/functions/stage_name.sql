-- stage_name: a staging table of one runtime of a subscription.
--   p_lane  0, or 1 for the second of a runtime that fills one while it commits the other; any other is refused (PS011)
create or replace function penstock.stage_name(p_subscription text, p_token bigint, p_lane int) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if p_lane is null or p_lane not in (0, 1) then
    raise exception using errcode = 'PS011', message = format('there is no lane %s of a staging table', coalesce(p_lane::text, 'null')),
      hint = 'Lanes are 0 and 1.';
  end if;
  return (select format('ingest_stage_%s_%s_%s', s.subscription_id, p_token, p_lane)
            from penstock.subscription s where s.path = p_subscription);
end
$$;
