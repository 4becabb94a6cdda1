-- causation_depth: how many events led to something caused by this one.
--   p_event_id  the causing event; null: nothing did, depth 0
--   returns     its depth + 1; refuses with PS011 beyond queue.causation.max_depth, where causes have become a loop
create or replace function penstock.causation_depth(p_event_id uuid) returns integer
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_depth integer := 0;
  v_max integer := penstock.config_text('queue.causation.max_depth', '32')::integer;
begin
  if p_event_id is not null then
    select e.causation_depth + 1 into v_depth from penstock.event_outbox e where e.event_id = p_event_id;
  end if;
  if v_depth > v_max then
    raise exception using errcode = 'PS011', message = format('event %s already stands at the end of %s causes', p_event_id, v_max),
      hint = 'Something causes itself. The limit is queue.causation.max_depth.';
  end if;
  return coalesce(v_depth, 1);
end
$$;
