-- job_request_fault: what is wrong with a request, whoever asks; null for nothing.
--   p_max_bytes  of its safe_payload; null: any size
create or replace function penstock.job_request_fault(p_row penstock.job_request, p_max_bytes bigint) returns text
language sql stable
return case
  when (p_row).kind is null then 'kind is missing'
  when (p_row).priority not between -32768 and 32767 then format('priority %s is outside -32768 … 32767', (p_row).priority)
  when (p_row).max_attempts not between 1 and 1000 then format('max_attempts %s is outside 1 … 1000', (p_row).max_attempts)
  when length((p_row).idempotency_key) not between 1 and 500 then 'idempotency_key must have 1 to 500 characters'
  when length((p_row).lane) not between 1 and 500 then 'lane must have 1 to 500 characters'
  when greatest(length((p_row).source_ref), length((p_row).target_ref), length((p_row).payload_ref), length((p_row).correlation_id),
                length((p_row).trace)) > 2000 then 'a ref, correlation_id or trace is longer than 2000 characters'
  when jsonb_typeof((p_row).safe_payload) <> 'object' then 'safe_payload must be an object'
  when pg_column_size((p_row).safe_payload) > p_max_bytes then format('safe_payload is larger than %s bytes', p_max_bytes)
end;
