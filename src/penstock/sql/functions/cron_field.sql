-- cron_field: the values that one field of a cron line stands for.
--   p_field        *, a, a-b, */n, a-b/n, a/n (from a to the end), names in any case, and lists of these
--   p_low, p_high  what the field may hold; weekdays are 0 to 6, and 7 is read as 0
--   p_names        the values' names from p_low on, in capitals; null when they have none
--   returns        the values, sorted, each once; refuses with PS008
create or replace function penstock.cron_field(p_field text, p_low integer, p_high integer, p_names text[]) returns integer[]
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_weekday boolean := p_low = 0 and p_high = 6;
  v_part text;
  v_found text[];  -- *, a, b, n
  v_ends integer[];
  v_from integer;
  v_to integer;
  v_step integer;
  v_values integer[] := '{}';
begin
  foreach v_part in array regexp_split_to_array(upper(coalesce(p_field, '') collate "C"), ',') loop
    v_found := regexp_match(v_part, '^(?:(\*)|([0-9]{1,3}|[A-Z]{3})(?:-([0-9]{1,3}|[A-Z]{3}))?)(?:/([0-9]{1,3}))?$');
    v_ends := array(
      select case when e.word ~ '[0-9]' then e.word::integer else p_low - 1 + array_position(p_names, e.word) end
        from unnest(v_found[2:3]) with ordinality e(word, nth) order by e.nth);
    v_from := case when v_found[1] = '*' then p_low
                   when v_weekday and v_ends[1] = 7 and v_found[3] is null then 0
                   else v_ends[1] end;
    v_to := case when v_found[3] is not null then v_ends[2]
                 when v_found[1] = '*' or v_found[4] is not null then p_high
                 else v_from end;
    v_step := coalesce(v_found[4]::integer, 1);
    if not coalesce(v_from between p_low and v_to and v_to <= p_high + v_weekday::integer
                    and v_step between 1 and p_high - p_low + 1, false) then
      raise exception using errcode = 'PS008',
        message = format('cron field %L: expected numbers from %s to %s%s', p_field, p_low, p_high,
                         ' or names from ' || p_names[1] || ' to ' || p_names[cardinality(p_names)]),
        hint = format('A field is *, a, a-b, */n, a-b/n, a/n or a list of these with commas; '
                      'a range goes upwards, and n is 1 to %s.', p_high - p_low + 1);
    end if;
    v_values := v_values || array(select case when v_weekday then v % 7 else v end
                                    from generate_series(v_from, v_to, v_step) v);
  end loop;
  return array(select distinct v from unnest(v_values) v order by v);
end
$$;
