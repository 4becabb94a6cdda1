-- job_request_check: refuse a batch of requests that holds a bad one; the message names the first.
--   p_rows  the requests, with their defaults filled in
--   reads   pool, event_domain, executor_grant, actor_binding, dot_config
create or replace function penstock.job_request_check(p_rows penstock.job_request[]) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_bad record;
  v_max bigint := penstock.config_text('queue.safe_payload.max_bytes', '8192')::bigint;
begin
  select r.ordinal, r.kind, f.what into v_bad
    from unnest(p_rows) r
   cross join lateral (select case
      when r.kind is null then 'kind is missing'
      when r.priority not between -32768 and 32767 then format('priority %s is outside -32768 … 32767', r.priority)
      when r.max_attempts not between 1 and 1000 then format('max_attempts %s is outside 1 … 1000', r.max_attempts)
      when length(r.idempotency_key) not between 1 and 500 then 'idempotency_key must have 1 to 500 characters'
      when length(r.lane) not between 1 and 500 then 'lane must have 1 to 500 characters'
      when greatest(length(r.source_ref), length(r.target_ref), length(r.payload_ref), length(r.correlation_id),
                    length(r.trace)) > 2000 then 'a ref, correlation_id or trace is longer than 2000 characters'
      when jsonb_typeof(r.safe_payload) <> 'object' then 'safe_payload must be an object'
    end) f(what)
   where f.what is not null
   order by r.ordinal limit 1;
  if found then
    raise exception using errcode = 'PS011', message = format('job %s of the request: %s', v_bad.ordinal, v_bad.what);
  end if;

  select r.ordinal, r.kind into v_bad from unnest(p_rows) r
   where pg_column_size(r.safe_payload) > v_max order by r.ordinal limit 1;
  if found then
    raise exception using errcode = 'PS007',
      message = format('safe_payload of job %s (%s) is larger than %s bytes', v_bad.ordinal, v_bad.kind, v_max),
      hint = 'Jobs carry a signal: keep the data elsewhere and pass its address as payload_ref.';
  end if;

  for v_bad in
    select distinct r.kind, r.executor, r.pool, r.event_domain, r.actor from unnest(p_rows) r
  loop
    perform penstock.job_target_check(v_bad.kind, v_bad.executor, v_bad.pool, v_bad.event_domain, v_bad.actor);
  end loop;
end
$$;
