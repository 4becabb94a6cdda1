-- job_array_check: refuse what is not an array of job objects, an unknown field, or a forbidden payload key.
--   p_jobs   the argument of fn_job_enqueue_many
create or replace function penstock.job_array_check(p_jobs jsonb) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_bad record;
  v_fields text[] := array['kind', 'idempotency_key', 'executor', 'source_ref', 'target_ref', 'payload_ref', 'safe_payload',
    'priority', 'process_after', 'correlation_id', 'causation_event_id', 'actor', 'pool', 'lane', 'event_domain', 'trace',
    'max_attempts'];
begin
  if p_jobs is null or jsonb_typeof(p_jobs) <> 'array' or jsonb_array_length(p_jobs) > 10000 then
    raise exception using errcode = 'PS011', message = 'p_jobs must be an array of at most 10,000 job objects';
  end if;
  select j.ordinality, case when jsonb_typeof(j.value) = 'object' then 'unknown field '
           || (select k from jsonb_object_keys(j.value - v_fields) k limit 1) else 'not an object' end as what
    into v_bad
    from jsonb_array_elements(p_jobs) with ordinality j
   where case when jsonb_typeof(j.value) = 'object' then j.value - v_fields <> '{}' else true end
   limit 1;
  if found then
    raise exception using errcode = 'PS011', message = format('job %s of the request: %s', v_bad.ordinality, v_bad.what),
      hint = 'The fields are the parameters of fn_job_enqueue without p_.';
  end if;
  if p_jobs::text ~ penstock.forbidden_key_pattern() then
    select j.ordinality into v_bad from jsonb_array_elements(p_jobs) with ordinality j
     where (j.value -> 'safe_payload')::text ~ penstock.forbidden_key_pattern() limit 1;
    if found then
      perform penstock.payload_check(p_jobs -> (v_bad.ordinality - 1)::integer -> 'safe_payload',
                                     format('safe_payload of job %s', v_bad.ordinality));
    end if;
  end if;
end
$$;
