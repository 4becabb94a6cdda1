-- fn_staging_write: put documents of a run into staging. The same document again changes nothing; a changed one begins anew.
--   p_run                            a letter or digit, then letters, digits and _ . : / -, at most 200
--   p_documents, p_formats, p_bytes  one entry each per document; a format is markdown or text
--   returns  {"staged", "known"}
--   refuses  a name that cannot be, arrays that do not fit (PS011)
--   writes   iu_staging_record
create or replace function penstock.fn_staging_write(p_run text, p_documents text[], p_formats text[], p_bytes bytea[]) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  v_staged integer;
begin
  if coalesce(p_run, '') !~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$' then
    raise exception using errcode = 'PS011', message = format('%L cannot be the name of a run', p_run),
      hint = 'A letter or digit, then letters, digits and _ . : / -, at most 200.';
  end if;
  if cardinality(p_documents) <> cardinality(p_formats) or cardinality(p_documents) <> cardinality(p_bytes)
     or exists (select from unnest(p_documents, p_formats, p_bytes) g(d, f, b)
                 where d is null or length(d) not between 1 and 1000 or f is null or f not in ('markdown', 'text') or b is null) then
    raise exception using errcode = 'PS011', message = 'every document needs a name of 1 to 1000 characters, a format (markdown or text) '
      'and its bytes';
  end if;
  delete from penstock.iu_staging_record r using unnest(p_documents, p_formats, p_bytes) g(d, f, b)
   where r.run = p_run and r.document = g.d and (r.format <> g.f or r.size_bytes <> length(g.b) or r.sha256 <> sha256(g.b));
  insert into penstock.iu_staging_record (run, document, format, size_bytes, sha256, bytes)
  select p_run, g.d, g.f, length(g.b), sha256(g.b), g.b
    from unnest(p_documents, p_formats, p_bytes) g(d, f, b)
   where not exists (select from penstock.iu_staging_record r where r.run = p_run and r.document = g.d)
   order by g.d
  on conflict (run, document) do nothing;
  get diagnostics v_staged = row_count;
  return jsonb_build_object('staged', v_staged, 'known', cardinality(p_documents) - v_staged);
end
$$;
