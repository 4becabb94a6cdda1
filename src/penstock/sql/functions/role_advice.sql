-- role_advice: what to do about a refusal that a database role would have spared the caller, as a hint.
--   p_role       the role; null when none would do
--   p_statement  what an operator can run instead
create or replace function penstock.role_advice(p_role text, p_statement text) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when p_role is null then 'An operator runs: '
              else format('A superuser, or whoever made the role, runs: grant %I to %I. Or an operator runs: ', p_role, penstock.caller())
         end || p_statement
$$;
