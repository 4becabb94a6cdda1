-- The HTTP API: who may use it, and what a runtime has staged through it. A ledger's own name. And the lanes of messages
-- that do not run at once.

create table penstock.api_token (
  token_id text collate "C" primary key check (token_id ~ '^[a-z2-7]{16}$'),
  -- of the secret, which is nowhere else than with its holder
  secret_sha256 bytea not null check (octet_length(secret_sha256) = 32),
  actor penstock.actor_ref not null check (actor !~ '^(consumer|system):'),
  scopes text[] collate "C" not null check (cardinality(scopes) > 0),
  -- the subscriptions that the scope internal opens; null: every one
  paths text[] collate "C" check (cardinality(paths) > 0),
  note text check (length(note) <= 500),
  created_by penstock.actor_ref not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_by penstock.actor_ref,
  revoked_at timestamptz,
  check ((revoked_by is null) = (revoked_at is null))
);
create index api_token_actor on penstock.api_token (actor);

-- A chunk of messages in a staging table. Unlogged as that is: after a crash of the server both are empty.
create unlogged table penstock.ingest_chunk (
  stage text collate "C" not null,
  attempt text collate "C" not null,
  messages integer not null,
  primary key (stage, attempt)
);

-- A message that goes in slices, as far as it has come: of its JSON text, by where they stand in it. Unlogged as well.
create unlogged table penstock.ingest_slice (
  stage text collate "C" not null,
  attempt text collate "C" not null,
  start bigint not null,
  slice text not null,
  primary key (stage, attempt, start)
);

-- Copies of this database have the same one, and no other database has: by it a source's mark is known for ours.
alter table penstock.subscription_runtime add column ledger uuid not null default gen_random_uuid();

-- A letter that is replayed runs in the lane its message had.
alter table penstock.ingest_dead_letter add column lane text collate "C", add column delivery_attempt integer;

-- Its message's; of the first step alone. Kept here for when that is started later, or again.
alter table penstock.job_workflow add column lane text collate "C";
