-- fn_consumer_register: this event is to become that job. It starts disabled and as a dry run; so does one that changes.
--   p_consumer_id               letters, digits and _ . -, at most 100; jobs are asked for by consumer:<it>
--   p_event_domain, p_event_type, p_event_stream  a registered type; a null stream is any
--   p_job_kind, p_executor, p_priority            the job
--   p_idempotency_key_template  such as {event_id}:greet; same kind and key: no second job
--   p_payload_ref_template      such as {event_subject_ref}; null: no payload_ref
--   p_registered_by             who asks; null is the caller itself
--   p_rate_per_s                jobs a second; more of them wait for their time. Null: no limit
--   p_fail_closed               false: an event it fails for is noted, and does not become a dead letter
--   p_notes                     for people to read
--   refuses                     an unknown type (PS013), a bad template (PS025), an executor kind (PS002), the rest (PS011)
--   writes                      consumer_registry
create or replace function penstock.fn_consumer_register(
  p_consumer_id text, p_event_domain text, p_event_type text, p_event_stream text, p_job_kind text, p_executor text,
  p_idempotency_key_template text, p_payload_ref_template text default null, p_priority integer default 0,
  p_registered_by text default null, p_rate_per_s numeric default null, p_fail_closed boolean default true, p_notes text default null)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_actor penstock.actor_ref := penstock.actor_checked(p_registered_by);
begin
  perform penstock.consumer_check(p_consumer_id, p_event_domain, p_event_type, p_event_stream, p_priority, p_rate_per_s);
  perform penstock.job_target_check(p_job_kind, p_executor, v_actor);
  perform penstock.template_format(p_payload_ref_template);
  if coalesce(penstock.template_format(p_idempotency_key_template), '') !~ '[$]s' then
    raise exception using errcode = 'PS025', message = format('idempotency key template %L is the same for every event',
      p_idempotency_key_template), hint = 'Use a field of the event, such as {event_id}.';
  end if;
  insert into penstock.consumer_registry as c (consumer_id, event_domain, event_type, event_stream, job_kind, executor,
    idempotency_key_template, payload_ref_template, fail_closed, priority, rate_per_s, notes, registered_by)
  values (p_consumer_id, p_event_domain, p_event_type, p_event_stream, p_job_kind, p_executor, p_idempotency_key_template,
          p_payload_ref_template, coalesce(p_fail_closed, true), coalesce(p_priority, 0), p_rate_per_s, p_notes, v_actor)
  on conflict (consumer_id) do update set
    event_domain = excluded.event_domain, event_type = excluded.event_type, event_stream = excluded.event_stream,
    job_kind = excluded.job_kind, executor = excluded.executor, idempotency_key_template = excluded.idempotency_key_template,
    payload_ref_template = excluded.payload_ref_template, fail_closed = excluded.fail_closed, priority = excluded.priority,
    rate_per_s = excluded.rate_per_s, rate_at = null, notes = excluded.notes, registered_by = excluded.registered_by,
    registered_at = now(), enabled = false, dry_run = true, reviewed_by = null, reviewed_at = null, live_at = null
  where (c.event_domain, c.event_type, c.event_stream, c.job_kind, c.executor, c.idempotency_key_template, c.payload_ref_template,
         c.fail_closed, c.priority, c.rate_per_s)
    is distinct from (excluded.event_domain, excluded.event_type, excluded.event_stream, excluded.job_kind, excluded.executor,
         excluded.idempotency_key_template, excluded.payload_ref_template, excluded.fail_closed, excluded.priority, excluded.rate_per_s);
end
$$;
