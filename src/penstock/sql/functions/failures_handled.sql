-- failures_handled: steps failed, and their playbook says how to go on: their error is their result, and their dead letter closed.
--   p_ends  ends of buried jobs; stuck ones are left alone
--   writes  job_result, job_dead_letter
create or replace function penstock.failures_handled(p_ends penstock.step_end[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with closed as (
    update penstock.job_dead_letter d
       set resolved_at = now(), resolved_by = 'system:playbook', resolution = 'on_error'
      from unnest(p_ends) e where e.how <> 'stuck' and d.job_id = e.job_id and d.resolved_at is null
    returning d.job_id, d.error, d.reason
  )
  insert into penstock.job_result (job_id, result)
  select c.job_id, jsonb_build_object('error', coalesce(c.error, jsonb_build_object('type', c.reason))) from closed c
  on conflict do nothing;
end
$$;
