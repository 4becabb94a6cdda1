-- event_rules: for each recipient with a row that matches an event, the row that decides: the most exact one.
--   exact (type and stream) before type_wildcard (stream alone) before stream_wildcard (type alone) before domain_only; of these
--   one with a scope before one without; and of two such, one that mutes
create or replace function penstock.event_rules(p_event penstock.event_outbox)
returns table (recipient_ref penstock.actor_ref, rule text, mute boolean)
language sql stable set search_path = pg_catalog, pg_temp as $$
  select distinct on (s.recipient_ref) s.recipient_ref,
         (array['exact', 'type_wildcard', 'stream_wildcard', 'domain_only'])[r.rung], s.mute
    from penstock.event_subscription s
   cross join lateral (select 1 + (s.event_type is null)::integer + 2 * (s.event_stream is null)::integer) r(rung)
   where s.event_domain = (p_event).event_domain
     and coalesce(s.event_type, (p_event).event_type) = (p_event).event_type
     and coalesce(s.event_stream, (p_event).event_stream) = (p_event).event_stream
     and (s.scope_subject_table is null or s.scope_subject_table = (p_event).subject_table)
     and coalesce((p_event).payload, '{}') @> s.scope_filter
   order by s.recipient_ref, r.rung, (s.scope_subject_table is not null or s.scope_filter <> '{}') desc, s.mute desc
$$;
