-- key_found: the first of these keys that a payload holds, at any depth and in any case.
create or replace function penstock.key_found(p_payload jsonb, p_keys text[]) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select k from unnest(p_keys) k where p_payload::text ~* ('"' || regexp_replace(k, '([^[:alnum:]_ ])', '\\\1', 'g') || '":') limit 1
$$;
