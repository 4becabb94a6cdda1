-- outbound_route_check: refuse an outbound route that cannot be one. A kind nobody handles is no fault here: it fails closed.
create or replace function penstock.outbound_route_check(p_route penstock.iu_outbound_route, p_actor penstock.actor_ref) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_target jsonb := (p_route).target;
  v_fault text;
begin
  v_fault := case
    when coalesce((p_route).route_code, '') !~ '^[A-Za-z][A-Za-z0-9_.-]{0,99}$' then
      'a route code is a letter, then letters, digits and _ . -, at most 100'
    when coalesce((p_route).route_kind, '') !~ '^[a-z][a-z0-9_]{0,39}$' then 'route_kind is event, job, http or notify'
    when jsonb_typeof(v_target) <> 'object' then 'target is an object'
    when (p_route).route_kind = 'http' and coalesce(v_target ->> 'url', '') !~ '^https?://[^/[:space:]]+' then
      'the target of http has a url, such as https://example.org/hooks'
    when (p_route).route_kind = 'http' and coalesce(v_target ->> 'secret', '') = '' then
      'the target of http has a secret: the alias of a credential, whose secret signs what is sent'
    when (p_route).route_kind = 'http' and coalesce(v_target ->> 'timeout_s', '10') !~ '^([1-9]|[1-5][0-9]|60)$' then
      'timeout_s is 1 to 60'
    when (p_route).route_kind = 'notify' and coalesce(v_target ->> 'channel', '') !~ '^[a-z_][a-z0-9_]{0,62}$' then
      'the target of notify has a channel: lower-case letters, digits and _, at most 63'
    when not exists (select from penstock.event_domain d where d.event_domain = (p_route).event_domain) then
      format('event domain %L does not exist', (p_route).event_domain) end;
  if v_fault is not null then
    raise exception using errcode = 'PS011', message = format('outbound route %s: %s', (p_route).route_code, v_fault);
  end if;
  if (p_route).event_type is not null then
    perform penstock.event_type_checked((p_route).event_domain, (p_route).event_type, (p_route).event_stream);
  end if;
  if (p_route).route_kind = 'event' then
    perform penstock.event_type_checked(v_target ->> 'event_domain', v_target ->> 'event_type', v_target ->> 'event_stream');
  elsif (p_route).route_kind = 'job' then
    perform penstock.job_target_known(coalesce(v_target ->> 'executor', 'PG_worker'), coalesce(v_target ->> 'pool', 'shared'), null);
    perform penstock.job_target_check(coalesce(v_target ->> 'job_kind', ''), coalesce(v_target ->> 'executor', 'PG_worker'), p_actor);
  end if;
end
$$;
