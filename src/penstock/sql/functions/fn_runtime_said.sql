-- fn_runtime_said: a runtime reports something worth an event: rate_limited, data_loss_refused, source_unavailable, …
--   refuses  a runtime that was replaced, with PS019
--   writes   execution_event, event_outbox
create or replace function penstock.fn_runtime_said(p_subscription text, p_token bigint, p_happening text, p_detail jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_held penstock.subscription_runtime;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription;
  perform penstock.runtime_checked(p_subscription, v_held, p_token);
  if p_happening !~ '^(rate_limited|data_loss_refused|read_again|source_unavailable|source_recovered|query_failing)$' then
    raise exception using errcode = 'PS011', message = format('a runtime does not say %L', p_happening);
  end if;
  perform penstock.subscription_event(p_subscription, p_happening, 'system:runtime', p_detail);
end
$$;
