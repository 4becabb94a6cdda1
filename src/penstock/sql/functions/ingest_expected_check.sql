-- ingest_expected_check: refuse a commit whose staged rows are not those its tasks wrote (PS021).
create or replace function penstock.ingest_expected_check(p_stage text, p_expected jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_wrong record;
begin
  if to_regclass('penstock.' || p_stage) is null then
    raise exception using errcode = 'PS021', message = format('the staging table %s is gone: nothing was committed', p_stage);
  end if;
  execute format($sql$
    select e.key as attempt, e.value::bigint as expected, coalesce(s.n, 0) as found
      from jsonb_each_text($1) e
      left join (select s.attempt, count(*) as n from penstock.%I s group by s.attempt) s on s.attempt = e.key
     where e.value::bigint <> coalesce(s.n, 0) limit 1$sql$, p_stage) into v_wrong using p_expected;
  if v_wrong.attempt is not null then
    raise exception using errcode = 'PS021',
      message = format('task attempt %s staged %s rows, %s are there: nothing was committed', v_wrong.attempt, v_wrong.expected,
                       v_wrong.found),
      hint = 'The server has crashed in between: the runtime starts again from the ledger.';
  end if;
end
$$;
