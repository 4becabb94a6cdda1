-- forbidden_key_pattern: a regular expression that finds a forbidden key in the text of a jsonb.
--   reads  dot_config (queue.forbidden_keys, comma separated)
create or replace function penstock.forbidden_key_pattern() returns text
language sql stable
return '(?i)"(' || regexp_replace(
  regexp_replace(
    trim(both ', ' from penstock.config_text('queue.forbidden_keys',
      'body,content,raw,vector,embedding,secret,token,password,ssn,personal_data')),
    '([^[:alnum:]_, ])', '\\\1', 'g'),
  '\s*,[, ]*', '|', 'g') || ')":';
