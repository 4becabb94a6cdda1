-- The event log: facts, never updated. tx_id is declared before seq, so that the id exists before the number is taken.

create sequence penstock.event_seq;

create table penstock.event_type_registry (
  event_domain text collate "C" not null references penstock.event_domain,
  event_type text collate "C" not null,
  event_stream text collate "C" not null,
  payload_contract jsonb,
  registered_by penstock.actor_ref not null,
  registered_at timestamptz not null default now(),
  primary key (event_domain, event_type)
);

create table penstock.event_outbox (
  event_id uuid not null default gen_random_uuid(),
  created_at timestamptz not null default now(),
  tx_id xid8 not null default pg_current_xact_id(),
  seq bigint not null default nextval('penstock.event_seq'),
  event_domain text collate "C" not null,
  event_type text collate "C" not null,
  event_stream text collate "C" not null,
  subject_table text,
  subject_ref text,
  payload jsonb,
  actor penstock.actor_ref not null,
  correlation_id text,
  causation_event_id uuid,
  causation_depth smallint not null default 0,
  trace text,
  primary key (event_id, created_at)
) partition by range (created_at);
create index event_outbox_order on penstock.event_outbox (tx_id, seq);
