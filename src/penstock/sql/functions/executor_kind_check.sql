-- executor_kind_check: refuse what is not on the whitelist of executor kinds (PS002). MOT never is.
create or replace function penstock.executor_kind_check(p_executor_kind text) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if p_executor_kind is null or p_executor_kind not in
     ('DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter') then
    raise exception using errcode = 'PS002', message = format('%L is not an executor kind', p_executor_kind),
      hint = 'One of DOT, Agent, Hermes, Codex, PG_worker, external_worker, future_Kestra_adapter. '
             'MOT emits job graphs and never executes.';
  end if;
end
$$;
