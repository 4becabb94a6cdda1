-- bytes_are_json: whether these bytes are one JSON text that can be stored: RFC 8259, UTF-8, no U+0000, no lone surrogate.
--   The one judge of what is JSON.
create or replace function penstock.bytes_are_json(p_body bytea) returns boolean
language plpgsql immutable strict set search_path = pg_catalog, pg_temp as $$
begin
  perform convert_from(p_body, 'UTF8')::jsonb;
  return true;
exception
  when invalid_text_representation or character_not_in_repertoire or untranslatable_character or statement_too_complex
    or program_limit_exceeded or numeric_value_out_of_range then
    return false;
end
$$;
