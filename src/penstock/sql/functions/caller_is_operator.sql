-- caller_is_operator: may the caller speak for anybody and drive anything?
--   returns  true for superusers and holders of workflow_admin
create or replace function penstock.caller_is_operator() returns boolean
language sql stable
return pg_has_role(penstock.caller()::name, 'workflow_admin', 'usage');
