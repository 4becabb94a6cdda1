-- Playbooks of many steps: their graph, and executions as workflows of jobs.

-- A playbook's steps, as its version in the catalog has them. What a job of a step is asked for with comes from here alone.
create table penstock.playbook_step (
  step_id bigint generated always as identity primary key,
  path text collate "C" not null,
  version integer not null,
  step text collate "C" not null,
  ordinal smallint not null,
  job_kind text collate "C" not null,
  executor penstock.executor_kind not null,
  pool text collate "C",
  lane text collate "C",
  max_attempts smallint,
  backoff jsonb,
  on_error text collate "C" not null check (on_error in ('fail', 'continue', 'step')),
  is_start boolean not null,
  -- the whole playbook is this one step, and an execution one job without a workflow
  is_single boolean not null,
  -- one of its arcs is taken; else all of them
  is_choice boolean not null,
  is_loop boolean not null,
  max_in_flight integer,
  -- how many arcs must be settled before it starts
  waits_for smallint not null,
  cycle smallint,
  -- it always goes on with this one step, and nothing else changes: no look at the workflow is needed
  plain_next bigint,
  unique (path, version, step),
  foreign key (path, version) references penstock.catalog
);

create table penstock.playbook_arc (
  arc_id bigint generated always as identity primary key,
  from_step bigint not null references penstock.playbook_step,
  to_step bigint not null references penstock.playbook_step,
  ordinal smallint not null,
  kind text collate "C" not null check (kind in ('next', 'error', 'late')),
  -- it stays within a cycle
  is_inside boolean not null,
  -- its step waits for others too
  is_join boolean not null,
  is_conditional boolean not null,
  max_times integer,
  -- the joins that are counted down when it is skipped, and how often each
  skips bigint[] not null,
  skip_counts smallint[] not null
);
create index playbook_arc_from on penstock.playbook_arc (from_step);
-- Arcs that are settled when a step ends and does not go on within its cycle: its own, or all that lead out of its cycle.
create table penstock.playbook_leaving (
  step_id bigint not null references penstock.playbook_step,
  arc_id bigint not null references penstock.playbook_arc,
  primary key (step_id, arc_id)
);

-- One execution of a playbook of several steps. Its id is that of its first job.
create table penstock.job_workflow (
  execution_id bigint primary key,
  started_at timestamptz not null,
  finished_at timestamptz,
  playbook_ref text not null,
  subscription text,
  status text collate "C" not null default 'running'
    check (status in ('running', 'paused', 'cancelling', 'succeeded', 'failed', 'cancelled')),
  -- live jobs, and steps that ended badly with nothing to go on with
  open integer not null,
  stuck integer not null default 0,
  priority smallint not null,
  pool text collate "C",
  source_ref text,
  payload_ref text,
  correlation_id text,
  causation_event_id uuid,
  causation_depth smallint,
  trace text,
  actor penstock.actor_ref not null,
  idempotency_key text collate "C",
  source bigint,
  -- the job that waits for it to end
  parent_job bigint,
  parent_execution bigint,
  -- how many executions it was started by, one by the other
  depth smallint not null default 0,
  -- the job that tells the one that waits; null once that knows
  answer_job bigint,
  check ((finished_at is not null) = (status in ('succeeded', 'failed', 'cancelled')))
) with (fillfactor = 80);
create index job_workflow_live on penstock.job_workflow (execution_id) where finished_at is null;
create index job_workflow_ended on penstock.job_workflow (finished_at) where finished_at is not null;
create index job_workflow_untold on penstock.job_workflow (execution_id) where answer_job is not null and finished_at is not null;
create index job_workflow_waited_for on penstock.job_workflow (parent_job) where parent_job is not null;
create index job_workflow_parent on penstock.job_workflow (parent_execution) where parent_execution is not null;

-- Which job ran a step, at which visit of its cycle, for which item of its loop (0: of none). via: the steps that led there.
create table penstock.job_step (
  execution_id bigint not null,
  step_id bigint not null,
  visit smallint not null,
  item integer not null,
  job_id bigint not null,
  enqueued_at timestamptz not null,
  via bigint[],
  -- the job that decides where it goes on, where that took one
  decider bigint,
  is_stuck boolean not null default false,
  primary key (execution_id, step_id, visit, item)
);

-- Joins that wait: how many arcs are not settled yet, and which were taken.
create table penstock.job_join (
  execution_id bigint not null,
  step_id bigint not null,
  remaining smallint not null,
  via bigint[] not null default '{}',
  primary key (execution_id, step_id)
) with (fillfactor = 50);

-- Loops under way: of how many items how many have not ended, and how many failed.
create table penstock.job_loop (
  execution_id bigint not null,
  step_id bigint not null,
  visit smallint not null,
  items integer not null,
  remaining integer not null,
  failed integer not null default 0,
  primary key (execution_id, step_id, visit)
) with (fillfactor = 50);

-- What a job of a loop works on.
create table penstock.job_item (
  job_id bigint primary key,
  item jsonb not null
);

-- Executions that are forgotten, as long as some of their steps are left.
create table penstock.job_workflow_gone (
  execution_id bigint primary key
);

-- Jobs that wait for an answer or a time: what happens when it is due, and whose answer counts.
create table penstock.job_await (
  job_id bigint primary key,
  on_due text collate "C" not null check (on_due in ('resume', 'expire')),
  key_hash bytea,
  approvers text[],
  prompt text,
  asked_at timestamptz not null default now()
);
-- what callback keys are made of: nobody may read it
create table penstock.callback_secret (
  is_only boolean primary key default true check (is_only),
  secret bytea not null default uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
);

alter table penstock.job_queue add column execution_id bigint;
alter table penstock.job_queue add column step_id bigint;
alter table penstock.job_queue add column visit smallint;
-- 0: of no loop; -1: decides where its step goes on, which was run before
alter table penstock.job_queue add column item integer;
-- why it is blocked, other than by its lane: paused, or more items of a loop are under way than may be
alter table penstock.job_queue add column hold text collate "C" check (hold in ('paused', 'loop'));
create index job_queue_execution on penstock.job_queue (execution_id) where execution_id is not null;
create index job_queue_loop on penstock.job_queue (execution_id, step_id, visit, item) where hold = 'loop';
create index job_queue_item on penstock.job_queue (execution_id, step_id, visit) where item > 0 and hold is distinct from 'loop';
create index job_queue_awaiting on penstock.job_queue (process_after) where status = 'awaiting' and process_after is not null;
drop index penstock.job_queue_lane_waiting;
create index job_queue_lane_waiting on penstock.job_queue (lane, job_id)
  where lane is not null and status = 'blocked' and hold is null;

insert into penstock.job_move (from_status, move, to_status) values
  ('ready', 'pause', 'blocked'), ('scheduled', 'pause', 'blocked'), ('retrying', 'pause', 'blocked'),
  ('blocked', 'unpause', 'ready'), ('blocked', 'unpause', 'scheduled');

-- The end of a job of a workflow. how: done, skipped (its condition did not hold), failed (goes on after an error), late
-- (nobody answered), stuck (ended badly, nothing to go on with), gone (cancelled with its execution).
create type penstock.step_end as (
  execution_id bigint,
  step_id bigint,
  visit smallint,
  item integer,
  job_id bigint,
  how text,
  next text[],
  items jsonb
);

-- A job of a workflow that is to be written. job_id is null for a new one.
create type penstock.step_start as (
  execution_id bigint,
  step_id bigint,
  visit smallint,
  item integer,
  job_id bigint,
  from_job bigint,
  via bigint[],
  hold text,
  value jsonb,
  process_after timestamptz,
  is_again boolean
);

-- How an arc into a join was settled.
create type penstock.join_count as (
  execution_id bigint,
  step_id bigint,
  arcs integer,
  via bigint[]
);

-- What an execution is started by besides who asks for it: a job that holds its lease.
create type penstock.execution_parent as (
  job_id bigint,
  execution_id bigint,
  actor text,
  depth smallint,
  waits boolean,
  causation_event_id uuid,
  causation_depth smallint
);

alter type penstock.playbook_target add attribute step_id bigint;
alter type penstock.playbook_target add attribute step text;
alter type penstock.playbook_target add attribute is_single boolean;

-- How often its source had handed a message out, where it counts.
alter table penstock.ingest_message add column delivery_attempt integer;

-- What a runtime has staged and not committed yet is committed as it stands.
do $$
declare
  v_stage text;
begin
  for v_stage in
    select c.relname from pg_class c
     where c.relnamespace = 'penstock'::regnamespace and c.relkind = 'r' and c.relname ~ '^ingest_stage_[0-9]+_[0-9]+_[01]$'
  loop
    execute format('alter table penstock.%I add column lane text collate "C", add column delivery_attempt integer', v_stage);
  end loop;
end $$;

-- Playbooks that are in the catalog already have one step.
insert into penstock.playbook_step (
  path, version, step, ordinal, job_kind, executor, pool, lane, max_attempts, on_error, is_start, is_single, is_choice, is_loop, waits_for)
select c.path, c.version, s.step ->> 'step', 0, 'tool:' || (s.step #>> '{tool,kind}'), coalesce(s.step ->> 'executor', 'PG_worker'),
       s.step ->> 'pool', s.step ->> 'lane', (s.step #>> '{retry,max_attempts}')::smallint, 'fail', true, true, false, false, 0
  from penstock.catalog c cross join lateral (select c.content -> 'workflow' -> 0) s(step)
 where c.kind = 'Playbook';

-- Keys of executions were those of jobs of their tool. They hold on as what they are now.
insert into penstock.once_key (scope, key, ref, expires_at)
select 'execution', k.key, k.ref, k.expires_at
  from penstock.once_key k
 where starts_with(k.scope, 'job:tool:') and k.expires_at > now()
   and split_part(k.key, ':', 1) in (select c.path from penstock.catalog c where c.kind = 'Playbook')
 order by k.expires_at desc
on conflict do nothing;
