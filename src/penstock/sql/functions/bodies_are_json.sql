-- bodies_are_json: whether the staged bodies of these attempts are JSON, every one: bytes_are_json for all of them in one go.
--   One look at all costs a third of a look at each; it says no as soon as one is not.
create or replace function penstock.bodies_are_json(p_stage text, p_attempts text[]) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_count bigint;
begin
  execute format($sql$select count(convert_from(s.body, 'UTF8')::jsonb) from penstock.%I s where s.attempt = any ($1)$sql$, p_stage)
    into v_count using p_attempts;
  return true;
exception
  when invalid_text_representation or character_not_in_repertoire or untranslatable_character or statement_too_complex
    or program_limit_exceeded or numeric_value_out_of_range then
    return false;
end
$$;
