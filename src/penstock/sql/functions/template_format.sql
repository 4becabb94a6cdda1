-- template_format: a template with {fields} of an event as a format() string over template_rendered's arguments.
--   refuses  any other field, and a lone brace (PS025)
create or replace function penstock.template_format(p_template text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_fields text[] := array['event_id', 'event_domain', 'event_type', 'event_stream', 'event_subject_table', 'event_subject_ref',
                           'correlation_id', 'causation_event_id', 'actor'];
  v_format text := replace(p_template, '%', '%%');
begin
  for i in 1..cardinality(v_fields) loop
    v_format := replace(v_format, '{' || v_fields[i] || '}', '%' || i || '$s');
  end loop;
  if v_format ~ '[{}]' or p_template ~ '%[0-9]+[$]' then
    raise exception using errcode = 'PS025', message = format('template %L names %s, which is no field of an event', p_template,
      coalesce(substring(v_format from '\{[^{}]*\}?'), substring(v_format from '[}]|%[0-9]+[$]'))),
      hint = 'It may use ' || (select string_agg('{' || f || '}', ' ') from unnest(v_fields) f) || '.';
  end if;
  return v_format;
end
$$;
