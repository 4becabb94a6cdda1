-- step_timeouts_check: refuse a playbook's version with a step, or a tool of one, that may take longer than a job of its kind: it would
-- never get that time. The detail is the step's name.
--   p_path, p_version  whose steps are written already
--   p_content          the file, which has their timeout_s and their tools'
--   reads              playbook_step, dot_config queue.timeout_ms.*; a setting that is lowered later still ends the jobs of its kind
create or replace function penstock.step_timeouts_check(p_path text, p_version integer, p_content jsonb) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_step text;
  v_kind text;
  v_asked_s bigint;
  v_most_ms bigint;
begin
  select s.step, s.job_kind, a.asked_s, k.most_ms into v_step, v_kind, v_asked_s, v_most_ms
    from jsonb_to_recordset(p_content -> 'workflow') w(step text, timeout_s bigint, tool jsonb)
    join penstock.playbook_step s on s.path = p_path and s.version = p_version and s.step = w.step
   cross join lateral (select penstock.config_for_kind('queue.timeout_ms', s.job_kind, 900000)) k(most_ms)
   cross join lateral (
     select w.timeout_s
     union all
     select (t ->> 'timeout_s')::bigint
       from jsonb_array_elements(case jsonb_typeof(w.tool) when 'array' then w.tool else jsonb_build_array(w.tool) end) t
   ) a(asked_s)
   where a.asked_s * 1000 > k.most_ms
   order by s.ordinal, a.asked_s desc limit 1;
  if v_step is not null then
    raise exception using errcode = 'PS011',
      message = format('%s: timeout_s of %s is %s, and a job of its kind, %s, ends after %s s', p_path, v_step, v_asked_s, v_kind,
        trim_scale(v_most_ms / 1000.0)),
      detail = v_step,
      hint = format('Lower it, or first: penstock config set queue.timeout_ms.%s %s', v_kind, v_asked_s * 1000);
  end if;
end
$$;
