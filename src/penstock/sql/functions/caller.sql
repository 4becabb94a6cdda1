-- caller: the role on whose behalf this call is made.
--   returns  the role chosen by `set role`, else the login. Inside security definer current_user is our owner.
create or replace function penstock.caller() returns text
language sql stable
return case current_setting('role') when 'none' then session_user::text else current_setting('role') end;
