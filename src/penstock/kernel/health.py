"""Is the server fit, and is the queue well? Reads of settings, heads and bounded indexes only."""

import time
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from penstock.kernel.connection import Connection, translated

ROLES = (
    "workflow_admin",
    "dot_executor",
    "penstock_producer",
    "penstock_mot",
    "penstock_pipeline",
    "penstock_gateway",
    "penstock_reader",
)
PARTITIONED = ("job", "job_outcome", "execution_event", "event_outbox")


@dataclass(frozen=True)
class Server:
    """The server, and the settings a queue depends on."""

    version: int
    version_text: str
    fsync: bool
    full_page_writes: bool
    synchronous_commit: str
    autovacuum: bool
    shared_buffers_bytes: int
    max_connections: int
    connections: int


@dataclass(frozen=True)
class Access:
    """Who we are to the server: which group roles it lacks, and which of them we hold."""

    user: str
    quoted_user: str
    missing: list[str]
    held: list[str]


@dataclass(frozen=True)
class LongTransaction:
    """A transaction that keeps vacuum from cleaning up after finished jobs."""

    pid: int | None
    name: str
    state: str
    age_s: float


@dataclass(frozen=True)
class Condition:
    """One row of v_queue_health; state is ok, warn or alert."""

    part: str
    state: str
    value: int | None
    since: datetime | None
    detail: str | None


def server(connection: Connection) -> Server:
    with translated(connection), connection.cursor(row_factory=class_row(Server)) as cursor:
        found = cursor.execute(
            "select current_setting('server_version_num')::integer as version,"
            " current_setting('server_version') as version_text,"
            " current_setting('fsync')::boolean as fsync,"
            " current_setting('full_page_writes')::boolean as full_page_writes,"
            " current_setting('synchronous_commit') as synchronous_commit,"
            " current_setting('autovacuum')::boolean and current_setting('track_counts')::boolean as autovacuum,"
            " pg_size_bytes(current_setting('shared_buffers')) as shared_buffers_bytes,"
            " current_setting('max_connections')::integer as max_connections,"
            " (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections"
        ).fetchone()
    assert found is not None
    return found


def access(connection: Connection) -> Access:
    with translated(connection):
        row = connection.execute(
            "select current_user, quote_ident(current_user),"
            " array(select n from unnest(%s::text[]) n where not exists (select from pg_roles where rolname = n)),"
            " array(select rolname::text from pg_roles"
            "        where rolname = any(%s) and pg_has_role(current_user, oid, 'usage') order by rolname)",
            [list(ROLES), list(ROLES)],
        ).fetchone()
    assert row is not None
    return Access(*row)


def long_transactions(connection: Connection, older_than_s: float) -> list[LongTransaction]:
    """The oldest few, prepared ones too. Other users' are seen by superusers and members of pg_monitor only."""
    with translated(connection), connection.cursor(row_factory=class_row(LongTransaction)) as cursor:
        return cursor.execute(
            "select * from ("
            " select pid, coalesce(nullif(application_name, ''), usename::text, '?') as name,"
            "        coalesce(state, '?') as state, extract(epoch from now() - xact_start)::float8 as age_s"
            "   from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
            " union all"
            " select null, gid, 'prepared', extract(epoch from now() - prepared)::float8 from pg_prepared_xacts) t"
            " where age_s > %s order by age_s desc limit 5",
            [older_than_s],
        ).fetchall()


def missing_partitions(connection: Connection, months_ahead: int) -> list[str]:
    """Partitions of this month and the next ones that do not exist."""
    with translated(connection):
        rows = connection.execute(
            "select name from unnest(%s::text[]) t, generate_series(0, %s) n,"
            " lateral (select format('%%s_y%%s', t, to_char((now() at time zone 'UTC') + n * interval '1 month',"
            "          'YYYY\"m\"MM')) as name) named"
            " where to_regclass('penstock.' || name) is null order by n, name",
            [list(PARTITIONED), months_ahead],
        ).fetchall()
    return [row[0] for row in rows]


def queue_health(connection: Connection) -> list[Condition]:
    """v_queue_health."""
    with translated(connection), connection.cursor(row_factory=class_row(Condition)) as cursor:
        return cursor.execute(
            "select part, state, value, since, detail from penstock.v_queue_health order by part"
        ).fetchall()


def server_time(connection: Connection) -> float:
    """The server's clock, in seconds since 1970."""
    with translated(connection):
        row = connection.execute("select extract(epoch from clock_timestamp())::float8").fetchone()
    assert row is not None
    return float(row[0])


def clock_skew_s(connection: Connection) -> float:
    """How far the server's clock is ahead of ours, beyond what the way there and back can explain."""
    before = time.time()
    theirs = server_time(connection)
    after = time.time()
    return max(theirs - after, 0.0) + min(theirs - before, 0.0)
