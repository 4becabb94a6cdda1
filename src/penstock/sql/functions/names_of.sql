-- names_of: a list of names as written in a route: ["a", "b"], or "(a, b)".
create or replace function penstock.names_of(p_list jsonb) returns text[]
language sql immutable
return case jsonb_typeof(p_list)
  when 'array' then array(select jsonb_array_elements_text(p_list))
  when 'string' then array(select trim(n) from unnest(string_to_array(trim(both '() ' from p_list #>> '{}'), ',')) n where trim(n) <> '')
  else '{}'::text[] end;
