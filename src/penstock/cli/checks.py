"""What `penstock doctor` looks at: each check says how it is, and what to do about it."""

import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from penstock.cli.output import cell, duration
from penstock.errors import DatabaseUnavailable, EmbeddedPostgresError, NotAllowed, PenstockError
from penstock.kernel import admin, health, migrate
from penstock.kernel.connection import Connection
from penstock.kernel.health import Condition, Server

_OLDEST_PYTHON = (3, 11)
_OLDEST_POSTGRES = 150000
_SMALL_BUFFERS_BYTES = 128 * 2**20
_BUSY = 0.8
_LONG_TRANSACTION_S = 300
_SKEW_S = 2.0
_DISK_FAIL_BYTES = 2**30
_DISK_WARN_BYTES = 5 * 2**30
_BEAT_S = 60
_MOST_LINES = 5
_DURABILITY = "a crash of the server loses jobs it has acknowledged"


@dataclass(frozen=True)
class Check:
    """state is ok, warn or fail."""

    check: str
    state: str
    said: str
    advice: str | None = None


def failed(check: str, error: PenstockError) -> Check:
    """An error as a check: its last line is what to do."""
    if isinstance(error, EmbeddedPostgresError):
        advice = "Mend that, or point PENSTOCK_DATABASE_URL at a PostgreSQL server."
        return Check(check, "fail", " ".join(str(error).split()), advice)
    said, _, last = str(error).rpartition("\n")
    if isinstance(error, DatabaseUnavailable):
        advice = "Check PENSTOCK_DATABASE_URL, and that its server runs; or unset it to use the embedded server."
        return Check(check, "fail", " ".join((said or last).split()), advice)
    return Check(check, "fail", " ".join((said or last).split()), last if said else None)


def guarded(check: str, look: Callable[[], list[Check]]) -> list[Check]:
    """What cannot be looked at stops no other check."""
    try:
        return look()
    except NotAllowed as error:
        return [Check(check, "warn", f"could not be looked at: {error.message}", "Run doctor as an operator.")]
    except PenstockError as error:
        return [failed(check, error)]


def python_check() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= _OLDEST_PYTHON:
        return Check("python", "ok", version)
    return Check("python", "fail", f"{version} is too old", "Install Python 3.11 or later.")


def disk_check(home: Path) -> Check:
    free = shutil.disk_usage(home).free
    said = f"{free / 2**30:.1f} GiB free under {home}"
    if free >= _DISK_WARN_BYTES:
        return Check("disk", "ok", said)
    state = "fail" if free < _DISK_FAIL_BYTES else "warn"
    return Check("disk", state, said, "Make room there, or set PENSTOCK_HOME to a folder on a larger disk.")


def version_check(server: Server, where: str) -> Check:
    said = f"{server.version_text}, {where}"
    if server.version >= _OLDEST_POSTGRES:
        return Check("postgresql", "ok", said)
    return Check(
        "postgresql", "fail", f"{said}: too old", "Use PostgreSQL 15 or later, or unset PENSTOCK_DATABASE_URL."
    )


def settings_checks(server: Server, *, embedded: bool) -> list[Check]:
    """The server's settings that a queue depends on."""
    return [
        *_durability(server),
        _worse_if(
            server.shared_buffers_bytes < _SMALL_BUFFERS_BYTES and not embedded,
            "memory",
            f"shared_buffers {server.shared_buffers_bytes // 2**20} MiB",
            "Set shared_buffers to about a quarter of the server's memory.",
        ),
        _worse_if(
            server.connections > server.max_connections * _BUSY,
            "connections",
            f"{server.connections} of {server.max_connections} in use",
            "Raise max_connections, or run fewer workers with a lower --concurrency.",
        ),
        _worse_if(
            not server.autovacuum,
            "autovacuum",
            "on" if server.autovacuum else "off: the queue grows without end",
            "Set autovacuum and track_counts to on.",
            state="fail",
        ),
    ]


def transaction_checks(connection: Connection) -> list[Check]:
    found = health.long_transactions(connection, _LONG_TRANSACTION_S)
    if not found:
        return [Check("transactions", "ok", f"none open for over {duration(_LONG_TRANSACTION_S)}")]
    return [
        Check(
            "transactions",
            "warn",
            f"{one.name} ({one.state}) has been open for {duration(one.age_s)}: vacuum cannot clean the queue",
            f"End it: rollback prepared '{one.name}'" if one.pid is None else f"select pg_terminate_backend({one.pid})",
        )
        for one in found
    ]


def clock_checks(connection: Connection) -> list[Check]:
    skew = health.clock_skew_s(connection)
    said = f"the server's clock differs from this machine's by {abs(skew):.1f} s"
    return [_worse_if(abs(skew) > _SKEW_S, "clock", said, "Let NTP set both clocks.")]


def schema_checks(connection: Connection) -> list[Check]:
    migrate.check(connection)
    newest = migrate.migrations()[-1]
    return [Check("schema", "ok", f"at {newest.version:04} {newest.name}, this version's")]


def role_checks(connection: Connection) -> list[Check]:
    access = health.access(connection)
    if access.missing:
        return [Check("roles", "fail", f"the server lacks {', '.join(access.missing)}", "Run: penstock migrate")]
    if not access.held:
        advice = (
            "A superuser, or whoever made the roles, runs:"
            f" grant penstock_producer, dot_executor to {access.quoted_user}"
            " (to enqueue, and to run workers; to operate the queue: workflow_admin)"
        )
        return [Check("roles", "fail", f"{access.user} holds none of Penstock's roles", advice)]
    held = "all roles" if len(access.held) == len(health.ROLES) else ", ".join(access.held)
    return [Check("roles", "ok", f"{access.user} holds {held}")]


def partition_checks(connection: Connection) -> list[Check]:
    missing = health.missing_partitions(connection, months_ahead=1)
    if not missing:
        return [Check("partitions", "ok", "this month's and the next one's are there")]
    return [Check("partitions", "warn", f"missing: {', '.join(missing)}", "Run: penstock tick")]


def worker_checks(connection: Connection) -> list[Check]:
    checks = []
    for executor in admin.executor_list(connection):
        if not executor.registered or not executor.any_enabled:
            continue
        name = f"workers of {executor.executor_id}"
        last = f", last heard from at {cell(executor.last_beat_at)}" if executor.last_beat_at else ""
        if executor.silent:
            advice = "Look at its process. One that is gone for good is forgotten after a day."
            checks.append(Check(name, "warn", f"{executor.living} living, {executor.silent} silent{last}", advice))
        elif executor.living == 0 or _is_old(executor.last_beat_at):
            advice = f"Start one: penstock worker --app YOUR.MODULE --executor {executor.executor_id}"
            checks.append(Check(name, "warn", f"none is running{last}", advice))
        else:
            checks.append(Check(name, "ok", f"{executor.living} living"))
    return checks or [Check("workers", "warn", "no executor may claim anything", "Run: penstock executor subscribe ID")]


def queue_checks(connection: Connection) -> list[Check]:
    """v_queue_health, in words."""
    rows = health.queue_health(connection)
    return [
        *_tick(rows),
        *_some(rows, "unserved:", "jobs", _unserved),
        *_some(rows, "leases_overdue", "leases", lambda row: _late(row, "leases")),
        *_some(rows, "due_overdue", "due jobs", lambda row: _late(row, "due jobs")),
        *_some(rows, "lanes_unsettled", "lanes", lambda row: _late(row, "lanes")),
        *_some(rows, "schedule:", "schedules", _schedule),
        *_some(rows, "subscription:", "subscriptions", _subscription),
        *_some(rows, "dead_letters", "dead letters", _dead_letters),
    ]


def _durability(server: Server) -> list[Check]:
    off = [name for name in ("fsync", "full_page_writes") if not getattr(server, name)]
    if server.synchronous_commit == "off":
        off.append("synchronous_commit")
    if not off:
        return [Check("durability", "ok", f"fsync on, synchronous_commit {server.synchronous_commit}")]
    return [Check("durability", "fail", f"{name} is off: {_DURABILITY}", f"Set {name} to on.") for name in off]


def _tick(rows: list[Condition]) -> list[Check]:
    last = next((row.since for row in rows if row.part == "tick"), None)
    broken = [row for row in rows if row.part.startswith("tick:") and row.state != "ok"]
    if any(row.part == "tick" and row.state != "ok" for row in rows):
        said = "has never run" if last is None else f"last ran at {cell(last)}"
        checks = [Check("tick", "warn", said, "Run a worker, which ticks every second, or penstock tick from cron.")]
    else:
        checks = [Check("tick", "ok", f"last ran at {cell(last)}")]
    return checks + [
        Check(
            f"tick {row.part.removeprefix('tick:')}",
            "fail",
            f"has failed since {cell(row.since)}: {row.detail}",
            "Mend what it says; the other parts go on.",
        )
        for row in broken
    ]


def _some(rows: Iterable[Condition], part: str, name: str, check: Callable[[Condition], Check]) -> list[Check]:
    """The first few that are not well, or one line that all are."""
    ill = [row for row in rows if row.part.startswith(part) and row.state != "ok"]
    checks = [check(row) for row in ill[:_MOST_LINES]]
    if len(ill) > _MOST_LINES:
        checks.append(Check(name, "warn", f"and {len(ill) - _MOST_LINES} more", "See: select * from v_queue_health"))
    return checks or [Check(name, "ok", "nothing to see to")]


def _unserved(row: Condition) -> Check:
    kind = row.part.removeprefix("unserved:")
    said = f"{row.value} {kind} wait since {cell(row.since)}: {row.detail}"
    return Check(
        "jobs", "warn", said, f"Start a worker whose --app has a handler for {kind}, or see: penstock executor list"
    )


def _late(row: Condition, name: str) -> Check:
    return Check(name, "warn", f"{row.value} {row.detail}", "Run a worker, or: penstock tick")


def _schedule(row: Condition) -> Check:
    schedule = row.part.removeprefix("schedule:")
    return Check("schedules", "warn", f"{schedule}: {row.detail}", f"Mend it: penstock schedule set {schedule} …")


def _subscription(row: Condition) -> Check:
    path = row.part.removeprefix("subscription:")
    said = f"{path} since {cell(row.since)}: {row.detail}"
    return Check("subscriptions", "warn", said, f"Run it: penstock subscription run {path}, or penstock up")


def _dead_letters(row: Condition) -> Check:
    said = f"{row.value} open, the oldest since {cell(row.since)}"
    return Check("dead letters", "warn", said, "See: penstock dlq list")


def _worse_if(bad: bool, check: str, said: str, advice: str, state: str = "warn") -> Check:
    return Check(check, state, said, advice) if bad else Check(check, "ok", said)


def _is_old(beat_at: datetime | None) -> bool:
    return beat_at is None or (datetime.now(UTC) - beat_at).total_seconds() > _BEAT_S
