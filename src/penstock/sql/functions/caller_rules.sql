-- caller_rules: the job subscriptions of the executors the caller may name.
--   returns  their ids; null for an operator, who may act for all
--   reads    job_subscription, actor_binding
create or replace function penstock.caller_rules() returns bigint[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when not penstock.caller_is_operator() then array(
    select s.subscription_id from penstock.job_subscription s
      join penstock.actor_binding b on b.actor_ref = 'agent:' || s.executor_id
      join pg_roles r on r.rolname = b.db_role
     where pg_has_role(penstock.caller()::name, r.oid, 'usage')) end
$$;
