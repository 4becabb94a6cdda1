-- fn_ingest_stage_slice: take a slice of a message that is too large for the way it comes; the last one stages it, once.
--   p_attempt  names the chunk that the message is alone
--   p_start    where the slice stands in the message's JSON text, an object as of fn_ingest_stage_add, in characters from 0
--   p_whole    how many that text has
--   returns    how many messages are staged: 0, or 1 with the slice that ends the text. PS019 for a runtime that was replaced, PS021
--              for a text with a gap: slices are unlogged, and gone after a crash of the server
--   writes     ingest_slice; with the last slice as fn_ingest_stage_add
create or replace function penstock.fn_ingest_stage_slice(
  p_subscription text, p_runtime_token bigint, p_lane int, p_attempt text, p_start bigint, p_slice text, p_whole bigint) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- as JSON, in base64; PostgreSQL holds several copies of it at the last slice
  c_most constant bigint := 128 * 1024 * 1024;
  v_held penstock.subscription_runtime;
  v_stage text := penstock.stage_name(p_subscription, p_runtime_token, p_lane);
  v_end bigint := p_start + length(p_slice);
  v_text text;
  v_is_whole boolean;
begin
  select * into v_held from penstock.subscription_runtime r where r.path = p_subscription;
  perform penstock.runtime_checked(p_subscription, v_held, p_runtime_token);
  if (p_start >= 0 and v_end > p_start and v_end <= p_whole and p_whole <= c_most and length(p_attempt) between 1 and 200) is not true then
    raise exception using errcode = 'PS011',
      message = format('a slice has a name of 1 to 200 characters, and stands within a text of at most %s', c_most);
  end if;
  -- the last one again, because its answer got lost
  if exists (select from penstock.ingest_chunk c where c.stage = v_stage and c.attempt = p_attempt) then
    return case when v_end = p_whole then 1 else 0 end;
  end if;
  insert into penstock.ingest_slice (stage, attempt, start, slice) values (v_stage, p_attempt, p_start, p_slice)
  on conflict (stage, attempt, start) do update set slice = excluded.slice;
  if v_end < p_whole then
    return 0;
  end if;
  select string_agg(s.slice, '' order by s.start), bool_and(s.start = s.before) and sum(length(s.slice)) = p_whole
    into v_text, v_is_whole
    from (select s.start, s.slice,
                 coalesce(sum(length(s.slice)) over (order by s.start rows between unbounded preceding and 1 preceding), 0) as before
            from penstock.ingest_slice s where s.stage = v_stage and s.attempt = p_attempt) s;
  if v_is_whole is not true then
    raise exception using errcode = 'PS021', message = format('slices of chunk %s are gone: nothing was staged', p_attempt);
  end if;
  delete from penstock.ingest_slice s where s.stage = v_stage and s.attempt = p_attempt;
  return penstock.fn_ingest_stage_add(p_subscription, p_runtime_token, p_lane, p_attempt, ('[' || v_text || ']')::json);
end
$$;
