-- route_attempt_held: may the caller end this attempt? It holds the delivery job, under this token; an operator may without one.
create or replace function penstock.route_attempt_held(p_attempt penstock.iu_route_attempt, p_lease_token bigint) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when p_lease_token is null then penstock.caller_is_operator() else exists (
    select from penstock.job_queue q
     where q.job_id = (p_attempt).job_id and q.lease_token = p_lease_token and q.status in ('leased', 'running')
       and (penstock.caller_rules() is null or q.rule = any (penstock.caller_rules()))) end
$$;
