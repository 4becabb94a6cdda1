-- What the shop's old application writes to. Penstock hands the rows out, and marks those that are done.
create table outbox (
  -- drawn by the table itself, one at a time: the source relies on it
  id bigint generated always as identity primary key,
  payload bytea not null,
  -- names and values side by side; values are bytes, and a name may come twice
  header_names text[] not null default '{}',
  header_values bytea[] not null default '{}',
  created timestamptz not null default clock_timestamp(),
  -- not handed out before this time
  visible_at timestamptz not null default '-infinity',
  deliveries integer not null default 0,
  done_at timestamptz,
  check (cardinality(header_names) = cardinality(header_values))
);

-- finds what is left to do, however many rows are done
create index on outbox (id) where done_at is null;
