-- execution_input_check: refuse an input that is no object, or larger than execution.input.max_bytes.
create or replace function penstock.execution_input_check(p_input jsonb) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if p_input is not null and jsonb_typeof(p_input) <> 'object' then
    raise exception using errcode = 'PS011', message = format('the payload is a JSON %s: it must be an object', jsonb_typeof(p_input));
  end if;
  if octet_length(p_input::text) > penstock.config_text('execution.input.max_bytes', '1048576')::bigint then
    raise exception using errcode = 'PS007', message = format('the payload has %s bytes, more than execution.input.max_bytes allows (%s)',
      octet_length(p_input::text), penstock.config_text('execution.input.max_bytes', '1048576')),
      hint = 'Keep large data elsewhere and pass its address.';
  end if;
end
$$;
