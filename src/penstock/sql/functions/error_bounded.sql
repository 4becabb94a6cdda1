-- error_bounded: an error no larger than queue.error.max_bytes; a larger one keeps its type and the start of its message.
create or replace function penstock.error_bounded(p_error jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when p_error is null or pg_column_size(p_error) <= penstock.config_text('queue.error.max_bytes', '16384')::bigint then p_error
              else jsonb_build_object('type', left(p_error ->> 'type', 200), 'message', left(p_error ->> 'message', 2000),
                                      'permanent', p_error -> 'permanent', 'truncated', true) end
$$;
