-- forbidden_key_pattern: a regular expression that finds a forbidden key in the text of a jsonb.
--   reads  dot_config (queue.forbidden_keys, comma separated)
create or replace function penstock.forbidden_key_pattern() returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select '(?i)"(' || string_agg(regexp_replace(trim(k), '([^[:alnum:]_])', '\\\1', 'g'), '|') || ')":'
    from string_to_table(penstock.config_text('queue.forbidden_keys',
      'body,content,raw,vector,embedding,secret,token,password,ssn,personal_data'), ',') k
   where trim(k) <> ''
$$;
