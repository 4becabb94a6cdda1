-- template_rendered: a format of template_format filled with an event; null when a field it uses is null.
--   What a field holds is never read as a template again. Stable, as format() is: else no plan would take it in.
create or replace function penstock.template_rendered(p_format text, p_event penstock.event_outbox) returns text
language sql stable
return case
  when ((p_event).subject_table is null and strpos(p_format, '%5$s') > 0)
    or ((p_event).subject_ref is null and strpos(p_format, '%6$s') > 0)
    or ((p_event).correlation_id is null and strpos(p_format, '%7$s') > 0)
    or ((p_event).causation_event_id is null and strpos(p_format, '%8$s') > 0) then null
  else format(p_format, (p_event).event_id, (p_event).event_domain, (p_event).event_type, (p_event).event_stream, (p_event).subject_table,
              (p_event).subject_ref, (p_event).correlation_id, (p_event).causation_event_id, (p_event).actor) end;
