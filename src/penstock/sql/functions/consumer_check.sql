-- consumer_check: refuse a consumer that cannot be one.
create or replace function penstock.consumer_check(
  p_consumer_id text, p_event_domain text, p_event_type text, p_event_stream text, p_priority integer, p_rate_per_s numeric) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if coalesce(p_consumer_id, '') !~ '^[A-Za-z][A-Za-z0-9_.-]{0,99}$' then
    raise exception using errcode = 'PS011', message = format('%L cannot be a consumer_id', p_consumer_id),
      hint = 'Use letters, digits and _ . -, at most 100, beginning with a letter.';
  end if;
  perform penstock.event_type_checked(p_event_domain, p_event_type, p_event_stream);
  if p_priority not between -32768 and 32767 then
    raise exception using errcode = 'PS011',
      message = format('consumer %s: priority %s is outside -32768 … 32767', p_consumer_id, p_priority);
  end if;
  if p_rate_per_s not between 0.0001 and 1000000 then
    raise exception using errcode = 'PS011',
      message = format('consumer %s: rate_per_s %s is outside 0.0001 … 1000000', p_consumer_id, p_rate_per_s);
  end if;
end
$$;
