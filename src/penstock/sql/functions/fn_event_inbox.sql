-- fn_event_inbox: what a recipient has not read yet, the newest first: what its rows give it, and broadcasts.
--   p_recipient_ref  an actor the caller may speak for (PS004)
--   p_limit          1 to 1000. Looked through are the events of the last 30 days, until so many are found
--   returns          the events, each with the rule that gives it
create or replace function penstock.fn_event_inbox(p_recipient_ref text, p_limit integer default 50)
returns table (event_id uuid, created_at timestamptz, event_domain text, event_type text, event_stream text, subject_table text,
               subject_ref text, payload jsonb, actor text, correlation_id text, causation_event_id uuid, rule text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  v_recipient penstock.actor_ref := penstock.actor_checked(p_recipient_ref);
  v_types text[] := penstock.event_types_for(v_recipient);
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception using errcode = 'PS011', message = format('limit %s is outside 1 … 1000', p_limit);
  end if;
  return query
    select e.event_id, e.created_at, e.event_domain, e.event_type, e.event_stream, e.subject_table, e.subject_ref, e.payload,
           e.actor::text, e.correlation_id, e.causation_event_id, r.rule
      -- in this order, and lazily: whose event it is costs most to say. An offset keeps what is below it from being merged in
      from (select o.* from penstock.event_outbox o
             where o.created_at > now() - interval '30 days' and o.event_domain || '.' || o.event_type = any (v_types)
               and not exists (select from penstock.event_read d where d.recipient_ref = v_recipient and d.event_id = o.event_id)
             order by o.tx_id desc, o.seq desc offset 0) e
     cross join lateral (select x.rule from penstock.event_recipients(e) x where x.recipient_ref = v_recipient) r
     limit p_limit;
end
$$;
