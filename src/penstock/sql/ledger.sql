-- Which releases and migrations this database has seen, and what was made from files.
create schema if not exists penstock;
create table if not exists penstock.schema_migration (
  version integer primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now()
);
create table if not exists penstock.schema_release (
  version text primary key,
  migrated_at timestamptz not null default now()
);
create table if not exists penstock.schema_function (
  signature text primary key
);
create table if not exists penstock.schema_view (
  view_name text primary key,
  checksum text not null
);
