-- fn_event_inbox: what a recipient has not read yet, the newest first: what its rows give it, and broadcasts.
--   p_recipient_ref  an actor the caller may speak for (PS004)
--   p_limit          1 to 1000. Looked through are the events of the last 30 days, until so many are found: newest first, by an
--                    index, which is why nothing is sorted. Before PostgreSQL 18 what is off costs so much that it would be compiled
--   returns          the events, each with the rule that gives it
create or replace function penstock.fn_event_inbox(p_recipient_ref text, p_limit integer default 50)
returns table (event_id uuid, created_at timestamptz, event_domain text, event_type text, event_stream text, subject_table text,
               subject_ref text, payload jsonb, actor text, correlation_id text, causation_event_id uuid, rule text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_sort = off set jit = off as $$
#variable_conflict use_column
declare
  v_recipient penstock.actor_ref := penstock.actor_checked(p_recipient_ref);
  v_types text[] := penstock.event_types_for(v_recipient);
  v_is_resolved boolean := penstock.config_text('queue.subscription_resolution.enabled', 'true') = 'true';
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception using errcode = 'PS011', message = format('limit %s is outside 1 … 1000', p_limit);
  end if;
  if not exists (select from penstock.event_subscription s where s.recipient_ref = v_recipient) then
    return;
  end if;
  return query
    select e.event_id, e.created_at, e.event_domain, e.event_type, e.event_stream, e.subject_table, e.subject_ref, e.payload,
           e.actor::text, e.correlation_id, e.causation_event_id, r.rule
      -- who gets an event costs most to say: first what is cheap. An offset keeps it apart from what follows
      from (select o.* from penstock.event_outbox o
             where o.created_at > now() - interval '30 days' and o.event_domain || '.' || o.event_type = any (v_types)
               and not exists (select from penstock.event_read d where d.recipient_ref = v_recipient and d.event_id = o.event_id)
               -- a row of its own that may give it, or nobody's that certainly does
               and (not v_is_resolved or coalesce((
                 select bool_or(s.recipient_ref = v_recipient) or bool_and(s.recipient_mutes)
                   from (select s.*, exists (select from penstock.event_subscription m where m.recipient_ref = s.recipient_ref
                                                and m.event_domain = s.event_domain and m.mute) as recipient_mutes
                           from penstock.event_subscription s where not s.mute) s
                  where s.event_domain = o.event_domain and coalesce(s.event_type, o.event_type) = o.event_type
                    and coalesce(s.event_stream, o.event_stream) = o.event_stream
                    and (s.scope_subject_table is null or s.scope_subject_table = o.subject_table)
                    and coalesce(o.payload, '{}') @> s.scope_filter), true))
             order by o.tx_id desc, o.seq desc offset 0) e
     cross join lateral (select x.rule from penstock.event_recipients(e) x where x.recipient_ref = v_recipient) r
     limit p_limit;
end
$$;
