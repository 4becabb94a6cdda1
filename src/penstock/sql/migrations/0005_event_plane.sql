-- The event plane: a cursor that skips nothing, and which event becomes which job.

-- A stored snapshot: the rows that turned visible between two ticks are one batch. Numbers of transactions are those of
-- this cluster plus outbox_base.
create table penstock.outbox_tick (
  tick_id bigint generated always as identity primary key,
  ticked_at timestamptz not null default clock_timestamp(),
  tx_id xid8 not null,
  snapshot pg_snapshot not null,
  -- the last number of event_seq it saw, and a transaction that began after that number was taken
  head bigint not null,
  head_tx xid8,
  -- of the cluster that made it
  system_identifier bigint not null
);

-- A copy restored into another cluster goes on above the numbers it brought along.
create table penstock.outbox_base (
  is_one boolean primary key default true check (is_one),
  base bigint not null default 0,
  rebased_at timestamptz,
  rebased_by penstock.actor_ref
);
insert into penstock.outbox_base default values;

-- How far a reader has come: all that is visible at tick_id, and of the batch up to goal_tick_id all up to (page_tx, page_seq).
create table penstock.event_cursor (
  cursor_name text collate "C" primary key check (cursor_name ~ '^[A-Za-z][A-Za-z0-9_.:-]{0,99}$'),
  tick_id bigint not null,
  goal_tick_id bigint,
  page_tx xid8,
  page_seq bigint,
  moved_at timestamptz not null default now(),
  check ((page_tx is null) = (page_seq is null)),
  check (goal_tick_id is not null or page_tx is null)
);

-- Trigger-out: this event becomes that job. Live is enabled and not dry_run.
create table penstock.consumer_registry (
  consumer_id text collate "C" primary key check (consumer_id ~ '^[A-Za-z][A-Za-z0-9_.-]{0,99}$'),
  event_domain text collate "C" not null,
  event_type text collate "C" not null,
  event_stream text collate "C",
  job_kind text collate "C" not null,
  executor penstock.executor_kind not null,
  idempotency_key_template text not null,
  payload_ref_template text,
  enabled boolean not null default false,
  dry_run boolean not null default true,
  fail_closed boolean not null default true,
  priority smallint not null default 0,
  -- jobs a second; above it they are made, and wait. rate_at is when the next one may run
  rate_per_s numeric check (rate_per_s > 0),
  rate_at timestamptz,
  notes text,
  registered_by penstock.actor_ref not null,
  registered_at timestamptz not null default now(),
  reviewed_by penstock.actor_ref,
  reviewed_at timestamptz,
  live_at timestamptz,
  unique nulls not distinct (event_domain, event_type, event_stream, consumer_id),
  foreign key (event_domain, event_type) references penstock.event_type_registry,
  check (not enabled or dry_run or (reviewed_by is not null and reviewed_at is not null))
);

-- What a dispatch made no job of: dry runs, and events whose job was there already.
create table penstock.consumer_dispatch (
  consumer_id text collate "C" not null,
  event_id uuid not null,
  outcome text collate "C" not null check (outcome in ('dry_run', 'duplicate', 'failed')),
  dispatched_at timestamptz not null default now(),
  job_kind text collate "C" not null,
  idempotency_key text,
  payload_ref text,
  -- of a duplicate, the job that was there
  job_id bigint,
  detail text
);
create index consumer_dispatch_recent on penstock.consumer_dispatch (consumer_id, dispatched_at);
create index consumer_dispatch_age on penstock.consumer_dispatch using brin (dispatched_at);

create table penstock.consumer_dead_letter (
  dead_letter_id bigint generated always as identity primary key,
  consumer_id text collate "C" not null,
  event_id uuid not null,
  reason text not null,
  error jsonb,
  event_snapshot jsonb not null,
  dead_at timestamptz not null default now(),
  resolved_at timestamptz,
  resolved_by penstock.actor_ref,
  resolution text,
  replay_job_id bigint
);
create unique index consumer_dead_letter_open on penstock.consumer_dead_letter (consumer_id, event_id) where resolved_at is null;

-- for looks at the last day or hour: jobs come in the order of their time
create index job_enqueued on penstock.job using brin (enqueued_at) with (pages_per_range = 32);

alter type penstock.job_request add attribute causation_depth smallint;

-- What a consumer is to make of an event: a job with this id, or nothing for this fault.
create type penstock.consumer_plan as (
  job_id bigint,
  consumer_id text,
  dry_run boolean,
  fail_closed boolean,
  fault text,
  job_kind text,
  executor penstock.executor_kind,
  priority smallint,
  actor penstock.actor_ref,
  safe_payload jsonb,
  key text,
  payload_ref text,
  event_id uuid,
  event_domain text,
  subject_ref text,
  correlation_id text,
  trace text,
  depth smallint
);

-- Trigger-in: this SQL change becomes that event, in the writer's own transaction. Live is enabled and not dry_run.
create table penstock.iu_sql_event_route (
  route_code text collate "C" primary key check (route_code ~ '^[A-Za-z][A-Za-z0-9_.:-]{0,99}$'),
  route_id bigint generated always as identity unique,
  source_object_kind text collate "C" not null check (source_object_kind in ('table', 'routine', 'database')),
  source_schema text,
  -- the table; of a routine its name
  source_table text,
  sql_event text collate "C" not null check (sql_event in ('insert', 'update', 'delete', 'truncate', 'call', 'ddl')),
  target_event_domain text collate "C" not null,
  target_event_type text collate "C" not null,
  target_event_stream text collate "C" not null,
  enabled boolean not null default false,
  dry_run boolean not null default true,
  fail_closed boolean not null default true,
  idempotency_policy jsonb,
  payload_contract jsonb,
  source_filter jsonb,
  notes text,
  registered_by penstock.actor_ref not null,
  registered_at timestamptz not null default now(),
  reviewed_by penstock.actor_ref,
  reviewed_at timestamptz,
  live_at timestamptz,
  foreign key (target_event_domain, target_event_type) references penstock.event_type_registry,
  check (not enabled or dry_run or (reviewed_by is not null and reviewed_at is not null)),
  check (case sql_event when 'call' then source_object_kind = 'routine' when 'ddl' then source_object_kind = 'database'
                        else source_object_kind = 'table' end),
  check (source_object_kind = 'database' or (source_schema is not null and source_table is not null))
);

-- What a route would have emitted, a row for each statement; and what one that is not fail_closed could not.
create table penstock.sql_event_route_note (
  route_code text collate "C" not null,
  noted_at timestamptz not null default now(),
  outcome text collate "C" not null check (outcome in ('dry_run', 'refused')),
  events bigint not null,
  -- the first few
  sample jsonb,
  detail text
);
create index sql_event_route_note_recent on penstock.sql_event_route_note (route_code, noted_at);

-- What the writer's session says about the events it causes.
create type penstock.sql_route_context as (
  actor penstock.actor_ref,
  correlation_id text,
  causation_event_id uuid,
  causation_depth smallint,
  trace text,
  expires_at timestamptz
);

-- Who reads which events. The most exact row that matches decides for its recipient, muted or not.
create table penstock.event_subscription (
  event_subscription_id bigint generated always as identity primary key,
  recipient_ref penstock.actor_ref not null check (recipient_ref ~ '^(role|agency|user|agent):'),
  event_domain text collate "C" not null references penstock.event_domain,
  event_type text collate "C",
  event_stream text collate "C",
  scope_subject_table text,
  scope_filter jsonb not null default '{}' check (jsonb_typeof(scope_filter) = 'object'),
  mute boolean not null default false,
  set_by penstock.actor_ref not null,
  set_at timestamptz not null default now(),
  unique nulls not distinct (recipient_ref, event_domain, event_type, event_stream, scope_subject_table, scope_filter)
);
create index ix_event_subscription_lookup on penstock.event_subscription (event_domain, event_type, event_stream) where not mute;

create table penstock.event_read (
  recipient_ref penstock.actor_ref not null,
  event_id uuid not null,
  read_at timestamptz not null default now(),
  primary key (recipient_ref, event_id, read_at)
) partition by range (read_at);

-- How many events of each type came in an hour, and how many of them nobody had subscribed to.
create table penstock.event_broadcast (
  hour timestamptz not null,
  event_domain text collate "C" not null,
  event_type text collate "C" not null,
  events bigint not null,
  broadcast bigint not null,
  primary key (hour, event_domain, event_type)
);

-- a job that is put off waits as one that is tried again does
insert into penstock.job_move (from_status, move, to_status) values ('leased', 'release', 'retrying'), ('running', 'release', 'retrying');
