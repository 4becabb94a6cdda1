-- job_target_known: refuse a job whose executor kind, pool or event domain does not exist, whoever asks for it.
--   refuses with PS002, PS003, PS012
--   reads   pool, event_domain
create or replace function penstock.job_target_known(p_executor text, p_pool text, p_event_domain text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  perform penstock.executor_kind_check(p_executor);
  perform penstock.pools_check(array[p_pool]);
  if p_event_domain is not null
     and not exists (select from penstock.event_domain d where d.event_domain = p_event_domain) then
    raise exception using errcode = 'PS012', message = format('event domain %L does not exist', p_event_domain),
      hint = format('An operator makes it with: select penstock.fn_event_domain_register(%L)', p_event_domain);
  end if;
end
$$;
