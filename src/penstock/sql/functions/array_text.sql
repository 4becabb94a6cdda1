-- array_text: a JSON array as PostgreSQL writes arrays, of any depth, to be cast to the type that is wanted.
--   p_of_json  its elements are to be JSON themselves
create or replace function penstock.array_text(p_array jsonb, p_of_json boolean) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if jsonb_typeof(p_array) is distinct from 'array' then
    return p_array #>> '{}';
  elsif p_of_json then
    return (select coalesce(array_agg(e::text order by o), '{}')::text from jsonb_array_elements(p_array) with ordinality x(e, o));
  elsif jsonb_typeof(p_array -> 0) = 'array' then
    return (select '{' || string_agg(penstock.array_text(e, false), ',' order by o) || '}'
              from jsonb_array_elements(p_array) with ordinality x(e, o));
  end if;
  return (select coalesce(array_agg(e order by o), '{}')::text from jsonb_array_elements_text(p_array) with ordinality x(e, o));
end
$$;
