-- Which migrations this database has seen, and how its views were made.
create schema if not exists penstock;
create table if not exists penstock.schema_migration (
  version integer primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now()
);
create table if not exists penstock.schema_view (
  view_name text primary key,
  checksum text not null
);
