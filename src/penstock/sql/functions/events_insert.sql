-- events_insert: write many events of one type about as many subjects, checked as event_insert checks one. Nothing caused them.
--   p_refs, p_payloads  one entry each per event; null: none
--   refuses  an unregistered type (PS013), payload keys that are forbidden, or that its type does not have (PS006), a large payload (PS007)
--   writes   event_outbox
create or replace function penstock.events_insert(
  p_event_domain text, p_event_type text, p_subject_table text, p_refs text[], p_payloads jsonb[], p_actor penstock.actor_ref,
  p_correlation_id text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_stream text := penstock.event_type_checked(p_event_domain, p_event_type, null);
  v_most bigint := penstock.config_text('queue.safe_payload.max_bytes', '8192')::bigint;
begin
  if coalesce(cardinality(p_refs), 0) = 0 then
    return;
  end if;
  -- one pass over the text of all of them
  perform penstock.payload_check(to_jsonb(p_payloads), 'the event payload');
  if exists (select from penstock.event_type_registry r
              where r.event_domain = p_event_domain and r.event_type = p_event_type and r.payload_contract is not null) then
    perform penstock.event_contract_check(p_event_domain, p_event_type, p, 'the event payload') from unnest(p_payloads) p;
  end if;
  if exists (select from unnest(p_payloads) p where pg_column_size(p) > v_most) then
    raise exception using errcode = 'PS007', message = format('the payload of event %s.%s is larger than %s bytes', p_event_domain,
      p_event_type, v_most), hint = 'Events carry a signal: keep the data elsewhere and pass its address as a ref.';
  end if;
  perform penstock.partition_ensure('event_outbox', now());
  insert into penstock.event_outbox (event_domain, event_type, event_stream, subject_table, subject_ref, payload, actor, correlation_id)
  select p_event_domain, p_event_type, v_stream, p_subject_table, g.ref, g.payload, p_actor, p_correlation_id
    from unnest(p_refs, p_payloads) with ordinality g(ref, payload, n) order by g.n;
  perform penstock.wake(array['_outbox']);
end
$$;
