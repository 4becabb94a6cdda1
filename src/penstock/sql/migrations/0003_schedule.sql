-- What is enqueued by the clock: five-field cron lines or intervals.

create table penstock.schedule (
  schedule_id text collate "C" primary key check (schedule_id ~ '^[A-Za-z0-9][A-Za-z0-9_./-]{0,99}$'),
  cron text,
  every interval check (every >= interval '1 second'),
  timezone text not null default 'UTC',
  job jsonb not null,
  enabled boolean not null default true,
  next_run_at timestamptz not null,
  last_run_at timestamptz,
  last_job_id bigint,
  last_error text,
  set_by penstock.actor_ref not null,
  set_at timestamptz not null default now(),
  check ((cron is null) <> (every is null))
);
create index schedule_due on penstock.schedule (next_run_at) where enabled;
