-- keys_beyond: is this no object, or one with a key or value that is none of these lists of names?
create or replace function penstock.keys_beyond(p_object jsonb, p_keys text[]) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select p_object is not null and (jsonb_typeof(p_object) <> 'object' or exists (
    select from jsonb_each(case when jsonb_typeof(p_object) = 'object' then p_object else '{}' end) e
     where e.key <> all (p_keys) or cardinality(penstock.names_of(e.value)) = 0))
$$;
