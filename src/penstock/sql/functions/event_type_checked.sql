-- event_type_checked: the stream of a registered event type.
--   p_event_stream  null, or what the caller takes it for
--   refuses         PS013
create or replace function penstock.event_type_checked(p_event_domain text, p_event_type text, p_event_stream text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_stream text;
begin
  select r.event_stream into v_stream from penstock.event_type_registry r
   where r.event_domain = p_event_domain and r.event_type = p_event_type;
  if v_stream is null or v_stream <> coalesce(p_event_stream, v_stream) then
    raise exception using errcode = 'PS013', message = format('event type %s.%s%s is not registered', p_event_domain, p_event_type,
      case when v_stream is null then '' else format(' in stream %s (but in %s)', p_event_stream, v_stream) end),
      hint = 'Register it with fn_event_type_register.';
  end if;
  return v_stream;
end
$$;
