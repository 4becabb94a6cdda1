-- The route worker: this event is delivered there, with one attempt row for each event and route.

create table penstock.iu_outbound_route (
  route_code text collate "C" primary key check (route_code ~ '^[A-Za-z][A-Za-z0-9_.-]{0,99}$'),
  event_domain text collate "C" not null references penstock.event_domain,
  event_type text collate "C",
  event_stream text collate "C",
  route_kind text collate "C" not null check (route_kind ~ '^[a-z][a-z0-9_]{0,39}$'),
  target jsonb not null default '{}' check (jsonb_typeof(target) = 'object'),
  enabled boolean not null default false,
  dry_run boolean not null default true,
  notes text,
  registered_by penstock.actor_ref not null,
  registered_at timestamptz not null default now(),
  reviewed_by penstock.actor_ref,
  reviewed_at timestamptz,
  live_at timestamptz,
  check (not enabled or dry_run or (reviewed_by is not null and reviewed_at is not null))
);

-- A worker's own place in the log is the cursor route:<worker_name>.
create table penstock.iu_route_worker_cursor (
  worker_name text collate "C" primary key check (worker_name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,80}$'),
  -- null: every domain that has a route
  event_domain text collate "C" references penstock.event_domain,
  runs bigint not null default 0,
  events bigint not null default 0,
  last_run_at timestamptz,
  last_run_summary jsonb,
  set_by penstock.actor_ref not null,
  set_at timestamptz not null default now()
);

create table penstock.iu_route_attempt (
  attempt_id bigint generated always as identity primary key,
  worker_name text collate "C" not null,
  -- null: no route takes the event
  route_code text collate "C",
  route_kind text collate "C",
  event_ref uuid not null,
  status text collate "C" not null check (status in ('dry_run', 'disabled', 'skipped', 'failed', 'queued', 'sent')),
  idempotency_key text collate "C" not null,
  attempt_no integer not null default 1,
  job_id bigint,
  error jsonb,
  attempted_at timestamptz not null default now(),
  ended_at timestamptz,
  unique (idempotency_key, attempt_no)
);
create index iu_route_attempt_recent on penstock.iu_route_attempt (attempted_at);
create index iu_route_attempt_dry on penstock.iu_route_attempt (route_code, attempted_at) where status = 'dry_run';
create index iu_route_attempt_passed on penstock.iu_route_attempt (attempted_at) where status in ('skipped', 'disabled');
create index iu_route_attempt_queued on penstock.iu_route_attempt (job_id) where status = 'queued';

create table penstock.iu_route_dead_letter (
  dead_letter_id bigint generated always as identity primary key,
  idempotency_key text collate "C" not null unique,
  worker_name text collate "C" not null,
  route_code text collate "C" not null,
  event_ref uuid not null,
  reason text not null,
  error jsonb,
  event_snapshot jsonb not null,
  dead_at timestamptz not null default now(),
  -- the attempt that is being made of it, while it is under way
  replay_attempt_id bigint,
  resolved_at timestamptz,
  resolved_by penstock.actor_ref,
  resolution text
);
create index iu_route_dead_letter_open on penstock.iu_route_dead_letter (dead_letter_id) where resolved_at is null;
