-- The queue: what was asked (job), what is alive (job_queue), how it ended (job_outcome), and what scopes a claim.

create domain penstock.executor_kind as text collate "C"
  check (value in ('DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter'));

create domain penstock.actor_ref as text collate "C"
  -- checked for every job: one regular expression for all of it would cost 2 µs, this costs 0.4
  check (split_part(value, ':', 1) in ('role', 'agency', 'user', 'agent', 'consumer', 'system')
         and strpos(value, ':') between 2 and length(value) - 1 and length(value) <= 210
         and value !~ '[[:space:][:cntrl:]]');

create type penstock.job_status as enum (
  'blocked', 'scheduled', 'ready', 'leased', 'running', 'awaiting', 'retrying',
  'succeeded', 'dead_lettered', 'cancelled');

-- The whole state machine: what is not here is illegal. from_status is null where a job begins.
create table penstock.job_move (
  from_status penstock.job_status,
  move text collate "C" not null,
  to_status penstock.job_status not null,
  unique nulls not distinct (from_status, move, to_status)
);
insert into penstock.job_move (from_status, move, to_status) values
  (null, 'enqueue', 'ready'), (null, 'enqueue', 'scheduled'), (null, 'enqueue', 'blocked'),
  ('scheduled', 'promote', 'ready'), ('scheduled', 'promote', 'blocked'), ('retrying', 'promote', 'ready'),
  ('scheduled', 'retry', 'ready'), ('scheduled', 'retry', 'blocked'), ('retrying', 'retry', 'ready'),
  ('blocked', 'advance', 'ready'),
  ('ready', 'claim', 'leased'), ('ready', 'claim', 'running'), ('leased', 'start', 'running'),
  ('leased', 'release', 'ready'), ('running', 'release', 'ready'),
  ('leased', 'finish', 'succeeded'), ('running', 'finish', 'succeeded'),
  ('leased', 'fail', 'retrying'), ('running', 'fail', 'retrying'),
  ('leased', 'fail', 'dead_lettered'), ('running', 'fail', 'dead_lettered'),
  ('leased', 'reap', 'ready'), ('running', 'reap', 'retrying'), ('running', 'reap', 'dead_lettered'),
  ('running', 'await', 'awaiting'), ('awaiting', 'resume', 'succeeded'), ('awaiting', 'expire', 'dead_lettered'),
  ('blocked', 'cancel', 'cancelled'), ('scheduled', 'cancel', 'cancelled'), ('ready', 'cancel', 'cancelled'),
  ('retrying', 'cancel', 'cancelled'), ('awaiting', 'cancel', 'cancelled'),
  ('leased', 'cancel', 'cancelled'), ('running', 'cancel', 'cancelled');

create sequence penstock.job_id_seq;
create sequence penstock.lease_token_seq;
create sequence penstock.execution_event_id_seq;

create table penstock.dot_config (
  key text collate "C" primary key,
  value text not null,
  updated_at timestamptz not null default now(),
  updated_by penstock.actor_ref not null
);

create table penstock.actor_binding (
  actor_ref penstock.actor_ref not null,
  db_role text not null,
  bound_by penstock.actor_ref not null,
  bound_at timestamptz not null default now(),
  primary key (actor_ref, db_role)
);

create table penstock.executor_grant (
  actor penstock.actor_ref not null,
  executor_kind penstock.executor_kind not null,
  job_kind text collate "C",
  granted_by penstock.actor_ref not null,
  granted_at timestamptz not null default now(),
  unique nulls not distinct (actor, executor_kind, job_kind)
);

create table penstock.pool (
  pool text collate "C" primary key check (pool ~ '^[a-z][a-z0-9_-]{0,62}$'),
  note text,
  set_by penstock.actor_ref not null,
  set_at timestamptz not null default now()
);

create table penstock.event_domain (
  event_domain text collate "C" primary key check (event_domain ~ '^[a-z][a-z0-9_]{0,39}$'),
  registered_by penstock.actor_ref not null,
  registered_at timestamptz not null default now()
);

create table penstock.executor (
  executor_id text collate "C" primary key check (executor_id ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'),
  executor_kind penstock.executor_kind not null,
  registered_by penstock.actor_ref not null,
  registered_at timestamptz not null default now(),
  deregistered_at timestamptz
);

create table penstock.job_subscription (
  subscription_id bigint generated always as identity primary key,
  executor_id text collate "C" not null references penstock.executor,
  executor_kind penstock.executor_kind not null,
  job_kind text collate "C",
  event_domain text collate "C" references penstock.event_domain,
  priority_floor smallint not null default -32768,
  max_parallel integer check (max_parallel >= 1),
  enabled boolean not null default false,
  registered_by penstock.actor_ref not null,
  registered_at timestamptz not null default now(),
  unique nulls not distinct (executor_id, job_kind, event_domain)
);

-- Beats cost no WAL; a crash empties the table, and the next tick starts counting anew.
create unlogged table penstock.queue_heartbeat (
  executor_id text collate "C" not null,
  incarnation uuid not null,
  executor_kind penstock.executor_kind not null,
  started_at timestamptz not null default now(),
  beat_at timestamptz not null default now(),
  silent_since timestamptz,
  -- false: silence_watch has found it by the leases it holds, and it has not beaten yet
  heard boolean not null default true,
  kinds text[],
  pools text[],
  primary key (executor_id, incarnation)
) with (fillfactor = 50);

-- When each part of fn_queue_tick last ran, and how it went.
create unlogged table penstock.queue_tick_part (
  part text collate "C" primary key,
  ran_at timestamptz not null,
  failed_since timestamptz,
  report jsonb
) with (fillfactor = 50);

create table penstock.job (
  job_id bigint not null,
  enqueued_at timestamptz not null,
  execution_id bigint,
  step text,
  playbook_ref text,
  subscription text,
  job_kind text collate "C" not null,
  executor penstock.executor_kind not null,
  pool text collate "C" not null,
  lane text collate "C",
  event_domain text collate "C",
  priority smallint not null,
  process_after timestamptz,
  max_attempts smallint,
  idempotency_key text collate "C",
  source_ref text,
  target_ref text,
  payload_ref text,
  safe_payload jsonb,
  correlation_id text,
  causation_event_id uuid,
  causation_depth smallint,
  trace text,
  actor penstock.actor_ref not null,
  replay_of bigint,
  primary key (job_id, enqueued_at)
) partition by range (enqueued_at);

-- event_domain is '' for a job without one: the claim's index compares it, and null compares with nothing.
create table penstock.job_queue (
  job_id bigint primary key,
  enqueued_at timestamptz not null,
  lease_token bigint,
  lease_until timestamptz,
  leased_by uuid,
  started_at timestamptz,
  process_after timestamptz,
  rule bigint,
  status penstock.job_status not null,
  priority smallint not null,
  attempt smallint not null default 0,
  max_attempts smallint,
  reaped smallint not null default 0,
  cancel_requested boolean not null default false,
  executor penstock.executor_kind not null,
  job_kind text collate "C" not null,
  pool text collate "C" not null,
  event_domain text collate "C" not null default '',
  lane text collate "C",
  check (status not in ('succeeded', 'dead_lettered', 'cancelled')),
  check ((status in ('leased', 'running')) = (lease_until is not null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

create index job_queue_ready on penstock.job_queue
  (executor, pool, job_kind, event_domain, priority desc, job_id) where status = 'ready';
create index job_queue_due on penstock.job_queue (process_after) where status in ('scheduled', 'retrying');
create index job_queue_leased on penstock.job_queue (rule, leased_by) where status in ('leased', 'running');
create unique index job_queue_lane_head on penstock.job_queue (lane)
  where lane is not null and status in ('ready', 'leased', 'running', 'awaiting', 'retrying');
create index job_queue_lane_waiting on penstock.job_queue (lane, job_id)
  where lane is not null and status = 'blocked';
create index job_queue_lane_scheduled on penstock.job_queue (lane, process_after, job_id)
  where lane is not null and status = 'scheduled';

-- Lanes somebody must look at again, because an open transaction may have left one without a head.
create table penstock.lane_check (
  lane_check_id bigint generated always as identity primary key,
  lane text collate "C" not null
);

-- status is what the job became: a terminal state, retrying after an attempt that failed, ready after one given back.
create table penstock.job_outcome (
  job_id bigint not null,
  finished_at timestamptz not null,
  lease_token bigint not null,
  enqueued_at timestamptz not null,
  started_at timestamptz,
  leased_by uuid,
  attempt smallint not null,
  status penstock.job_status not null,
  reason text,
  error jsonb,
  primary key (job_id, lease_token, finished_at)
) partition by range (finished_at);

create table penstock.job_result (
  job_id bigint primary key,
  result jsonb not null,
  created_at timestamptz not null default now()
);

create table penstock.job_dead_letter (
  dead_letter_id bigint generated always as identity primary key,
  job_id bigint not null,
  job_kind text collate "C" not null,
  reason text not null,
  error jsonb,
  snapshot jsonb not null,
  dead_at timestamptz not null default now(),
  resolved_at timestamptz,
  resolved_by penstock.actor_ref,
  resolution text,
  replay_job_id bigint
);
create index job_dead_letter_open on penstock.job_dead_letter (dead_letter_id) where resolved_at is null;
create index job_dead_letter_job on penstock.job_dead_letter (job_id);

-- The one insert-once store: job and event idempotency, dedup windows, message identities, replay cache.
create table penstock.once_key (
  scope text collate "C" not null,
  key text collate "C" not null,
  ref text not null,
  expires_at timestamptz not null,
  primary key (scope, key)
) partition by hash (scope, key);

do $$
begin
  for i in 0..15 loop
    execute format('create table penstock.once_key_%s partition of penstock.once_key '
                   'for values with (modulus 16, remainder %s)', to_char(i, 'FM00'), i);
    execute format('create index on penstock.once_key_%s using brin (expires_at) '
                   'with (pages_per_range = 32, autosummarize = on)', to_char(i, 'FM00'));
  end loop;
end $$;

-- Only what no other row says: lifecycle, decisions, warnings.
create table penstock.execution_event (
  execution_event_id bigint not null default nextval('penstock.execution_event_id_seq'),
  happened_at timestamptz not null default now(),
  execution_id bigint,
  job_id bigint,
  happening text collate "C" not null,
  actor penstock.actor_ref not null,
  detail jsonb,
  primary key (execution_event_id, happened_at)
) partition by range (happened_at);
create index execution_event_job on penstock.execution_event (job_id);

-- What fn_job_enqueue and fn_job_enqueue_many hand to job_insert.
create type penstock.job_request as (
  ordinal integer,
  job_id bigint,
  kind text,
  idempotency_key text,
  executor text,
  source_ref text,
  target_ref text,
  payload_ref text,
  safe_payload jsonb,
  priority integer,
  process_after timestamptz,
  correlation_id text,
  causation_event_id uuid,
  actor text,
  pool text,
  lane text,
  event_domain text,
  trace text,
  max_attempts integer,
  replay_of bigint
);

-- The answer of a claim: narrow, because an answer that a stopped client does not read holds every lock of its statement.
create type penstock.job_claim as (
  job_id bigint,
  lease_token bigint,
  job_kind text,
  attempt smallint,
  started boolean,
  suspect boolean,
  priority smallint,
  lease_until timestamptz,
  enqueued_at timestamptz
);

-- Ready jobs a claim may take: one run of the index job_queue_ready, and the rule that decides over it.
create type penstock.claim_run as (
  pool text,
  job_kind text,
  event_domain text,
  head_priority smallint,
  head_job_id bigint,
  rule bigint,
  priority_floor smallint,
  max_parallel integer,
  room integer
);
