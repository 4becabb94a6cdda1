-- The catalog, executions with an input, and what comes in from sources.

-- Entries are immutable: a changed file is a new version.
create table penstock.catalog (
  path text collate "C" not null check (path ~ '^[A-Za-z0-9][A-Za-z0-9_./-]{0,199}$'),
  version integer not null,
  kind text collate "C" not null check (kind in ('Playbook', 'Subscription')),
  content jsonb not null,
  source text not null,
  registered_by penstock.actor_ref not null,
  registered_at timestamptz not null default now(),
  primary key (path, version)
);

create table penstock.execution_input (
  execution_id bigint primary key,
  input jsonb not null,
  created_at timestamptz not null default now()
);

create table penstock.subscription (
  path text collate "C" primary key,
  subscription_id bigint generated always as identity unique,
  version integer not null,
  state text collate "C" not null default 'REGISTERED'
    check (state in ('REGISTERED', 'ACTIVE', 'PAUSED', 'DRAINING', 'DEACTIVATED')),
  moved_at timestamptz not null default now(),
  foreign key (path, version) references penstock.catalog
);

-- Who holds a subscription open, and how far it has come. A row of its own: a pause never waits for a commit.
create table penstock.subscription_runtime (
  path text collate "C" primary key references penstock.subscription,
  token bigint not null default 0,
  version integer,
  incarnation uuid,
  lease_until timestamptz,
  released_at timestamptz,
  started_at timestamptz,
  backlog bigint,
  backlog_at timestamptz,
  backlog_since timestamptz,
  is_stalled boolean not null default false,
  -- when it was last said that nobody holds it; true until a runtime takes it or the subscription moves
  unattended_at timestamptz,
  -- whether a commit has moved the ledger, if only from nothing to nothing
  begun boolean not null default false,
  last_commit_at timestamptz,
  received bigint not null default 0,
  executions bigint not null default 0,
  deduplicated bigint not null default 0,
  dead_lettered bigint not null default 0,
  replays bigint not null default 0,
  -- the rate is what was received since rate_since, at most a minute ago while a runtime lives; rate_next takes its place then
  rate_since timestamptz,
  rate_received bigint,
  rate_next timestamptz,
  rate_next_received bigint,
  batches bigint not null default 0,
  -- what became of the newest batches, one by one: [{"batch", "received", "executions", …, "commit_ms"}, …]
  recent jsonb not null default '[]'
) with (fillfactor = 50);
create sequence penstock.runtime_token_seq;

-- The ledger: which positions are committed. identity is what makes a part another one (a topic's id, a stream's birth).
create table penstock.ingest_position (
  path text collate "C" not null references penstock.subscription,
  part text collate "C" not null,
  identity text not null,
  next_offset bigint not null,
  -- everything up to here was acknowledged, and its identities forgotten: a source that forgets acknowledgements sends it again
  floor_offset bigint not null default -1,
  moved_at timestamptz not null default now(),
  primary key (path, part)
) with (fillfactor = 50);

-- A message that became an execution. ingested_at is its job's enqueued_at.
create table penstock.ingest_message (
  execution_id bigint not null,
  ingested_at timestamptz not null,
  subscription text collate "C" not null,
  version integer not null,
  message_id text collate "C" not null,
  part text collate "C" not null,
  source_offset bigint not null,
  published_at timestamptz,
  message_key bytea,
  body bytea,
  attributes json not null,
  directives json,
  primary key (execution_id, ingested_at)
) partition by range (ingested_at);
create index ingest_message_id on penstock.ingest_message (subscription, message_id);

-- A message that cannot become an execution, whole. Never deleted, only resolved.
create table penstock.ingest_dead_letter (
  dead_letter_id bigint generated always as identity primary key,
  subscription text collate "C" not null,
  message_id text collate "C" not null,
  part text collate "C" not null,
  source_offset bigint not null,
  published_at timestamptz,
  message_key bytea,
  body bytea,
  attributes json not null,
  playbook text collate "C",
  pool text collate "C",
  dedup_key text collate "C",
  trace text,
  directives json,
  fault text,
  reason text not null,
  error jsonb,
  dead_at timestamptz not null default now(),
  resolved_at timestamptz,
  resolved_by penstock.actor_ref,
  resolution text,
  replay_execution_id bigint
);
create index ingest_dead_letter_open on penstock.ingest_dead_letter (subscription, dead_letter_id) where resolved_at is null;
create index ingest_dead_letter_message on penstock.ingest_dead_letter (subscription, message_id);

alter table penstock.execution_event add column subscription text collate "C";
create index execution_event_subscription on penstock.execution_event (subscription, execution_event_id)
  where subscription is not null;

-- Which subscription a live job came from, for those that bound how many may be alive.
alter table penstock.job_queue add column source bigint;
create index job_queue_source on penstock.job_queue (source) where source is not null;

alter type penstock.job_request add attribute playbook_ref text;
alter type penstock.job_request add attribute subscription text;

-- What a commit does with a staged row other than running it: replay, deduplicated, or dead with a reason.
create type penstock.ingest_verdict as (
  job_id bigint,
  verdict text,
  reason text,
  execution_id bigint
);

-- How executions of a playbook are asked for.
create type penstock.playbook_target as (
  path text,
  ref text,
  job_kind text,
  executor penstock.executor_kind,
  pool text,
  lane text,
  max_attempts smallint
);
