-- sql_route_sized: the payload, looked through when it is larger than p_small_bytes.
create or replace function penstock.sql_route_sized(p_payload jsonb, p_route_code text, p_small_bytes integer) returns jsonb
language sql stable
return case when pg_column_size(p_payload) <= p_small_bytes then p_payload else penstock.sql_route_checked(p_payload, p_route_code) end;
