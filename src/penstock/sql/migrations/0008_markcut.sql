-- MARK/CUT: documents kept as pieces that have an address, an order and a hash.

-- A document of one run, on its way to being cut. Emptied by the run's last stage, or when it is too old.
create table penstock.iu_staging_record (
  -- of two versions of a document the higher number was read later, and wins
  staging_id bigint generated always as identity primary key,
  run text collate "C" not null check (run ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'),
  document text collate "C" not null check (length(document) between 1 and 1000),
  format text collate "C" not null check (format in ('markdown', 'text')),
  state text collate "C" not null default 'staged' check (state in ('staged', 'marked', 'mark_verified', 'cut', 'cut_verified')),
  size_bytes integer not null,
  sha256 bytea not null,
  -- the largest piece its marks allow
  max_bytes integer,
  bytes bytea not null,
  staged_at timestamptz not null default now(),
  expired_at timestamptz,
  unique (run, document)
);
-- not compressed: a piece is then fetched without the rest
alter table penstock.iu_staging_record alter column bytes set storage external;
create index iu_staging_record_age on penstock.iu_staging_record (staged_at) where expired_at is null;
create index iu_staging_record_expired on penstock.iu_staging_record (expired_at) where expired_at is not null;

-- Where it is to be cut: from first_byte up to, and without, end_byte.
create table penstock.iu_staging_mark (
  staging_id bigint not null references penstock.iu_staging_record on delete cascade,
  position integer not null check (position >= 0),
  first_byte integer not null check (first_byte >= 0),
  end_byte integer not null check (end_byte > first_byte),
  address text collate "C" not null check (length(address) between 1 and 2000),
  primary key (staging_id, position)
);

create table penstock.iu_document (
  document text collate "C" primary key,
  -- what it was last cut from, and counts how often that changed a piece; null and 0 before the first time
  staging_id bigint,
  run text collate "C",
  revision integer not null default 0,
  sha256 bytea,
  size_bytes integer not null default 0,
  pieces integer not null default 0,
  cut_at timestamptz
);
create index iu_document_run on penstock.iu_document (run);

-- The live ones of a document, joined in the order of position, are the document. A deprecated one keeps its address and bytes.
create table penstock.iu_piece (
  piece_id bigint generated always as identity primary key,
  document text collate "C" not null references penstock.iu_document,
  address text collate "C" not null unique,
  position integer,
  size_bytes integer not null,
  sha256 bytea not null,
  bytes bytea not null,
  added_at timestamptz not null default now(),
  changed_at timestamptz,
  deprecated_at timestamptz,
  constraint iu_piece_order unique (document, position) deferrable initially immediate,
  check ((position is null) = (deprecated_at is not null))
);
alter table penstock.iu_piece alter column bytes set storage external;

-- How the pieces of a document's new version stand to those it has.
create type penstock.piece_diff as (
  staging_id bigint, document text, piece_id bigint, address text, position integer, first_byte integer, end_byte integer,
  sha256 bytea, is_added boolean, is_changed boolean, is_moved boolean, is_reordered boolean, is_deprecated boolean);

-- A document as its pieces in order, as iu_recompose_pieces last put it together.
create table penstock.iu_composition (
  document text collate "C" primary key references penstock.iu_document,
  revision integer not null,
  piece_ids bigint[] not null,
  size_bytes integer not null,
  sha256 bytea not null,
  composed_at timestamptz not null default now()
);

-- How many pieces of a document live, have changed, are deprecated, as iu_axis_refresh last counted them.
create table penstock.iu_axis (
  document text collate "C" primary key references penstock.iu_document,
  revision integer not null,
  live integer not null,
  changed integer not null,
  deprecated integer not null,
  refreshed_at timestamptz not null default now()
);
