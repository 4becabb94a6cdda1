"""What a worker needs beside the jobs: beats, ticks, wake-ups, and the settings it must know."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from psycopg import sql

from penstock.errors import UnknownExecutor
from penstock.kernel.connection import Connection, translated
from penstock.model import Json

# no event domain is called so
_OUTBOX = "_outbox"
# how much a part of fn_queue_tick does in one go; one that has done so much wants another tick
TICK_LIMITS = {"promote": 5000, "reap": 1000, "lanes": 200, "once_keys": 1000, "broadcasts": 5000}


@dataclass(frozen=True)
class KindTimes:
    """How long a lease and a run of one job kind may last."""

    lease_s: float
    timeout_s: float


def executor_kind(connection: Connection, executor_id: str) -> str:
    """The kind an executor is registered as."""
    with translated(connection):
        row = connection.execute(
            "select executor_kind from penstock.executor where executor_id = %s and deregistered_at is null",
            [executor_id],
        ).fetchone()
    if row is None:
        raise UnknownExecutor(
            f"executor {executor_id!r} is not registered",
            f"Register it: penstock executor register {executor_id} --kind PG_worker",
        )
    return str(row[0])


def queue_heartbeat(
    connection: Connection,
    executor_id: str,
    kind: str,
    incarnation: UUID,
    *,
    kinds: Sequence[str] | None = None,
    pools: Sequence[str] | None = None,
) -> None:
    """fn_queue_heartbeat."""
    with translated(connection):
        connection.execute(
            "select penstock.fn_queue_heartbeat(%s, %s, %s, %s::text[], %s::text[])",
            [
                executor_id,
                kind,
                incarnation,
                None if kinds is None else list(kinds),
                None if pools is None else list(pools),
            ],
        )


def farewell(connection: Connection, executor_id: str, incarnation: UUID) -> None:
    """fn_queue_farewell."""
    with translated(connection):
        connection.execute("select penstock.fn_queue_farewell(%s, %s)", [executor_id, incarnation])


def tick(connection: Connection) -> Json:
    """fn_queue_tick."""
    with translated(connection):
        row = connection.execute("select penstock.fn_queue_tick()").fetchone()
    assert row is not None
    report: Json = row[0]
    return report


def wants_another(report: Json) -> bool:
    """Whether a part of a tick did as much as it does in one go, and has more to do."""
    if (report.get("history", {}).get("did") or {}).get("more"):
        return True
    return any((report.get(part, {}).get("did") or 0) >= limit for part, limit in TICK_LIMITS.items())


def reap_stale_leases(connection: Connection) -> int:
    """fn_queue_reap_stale_leases."""
    with translated(connection):
        row = connection.execute("select penstock.fn_queue_reap_stale_leases()").fetchone()
    assert row is not None
    return int(row[0])


def kind_times(connection: Connection, kinds: Sequence[str]) -> dict[str, KindTimes]:
    """Lease and timeout of each kind, as queue.lease_ms.* and queue.timeout_ms.* say."""
    with translated(connection):
        rows = connection.execute(
            "select key, value from penstock.dot_config where key ~ '^queue[.](lease_ms|timeout_ms)[.]'"
        ).fetchall()
    known = {row[0]: int(row[1]) / 1000 for row in rows}

    def of(prefix: str, kind: str, fallback: float) -> float:
        return known.get(f"{prefix}.{kind}", known.get(f"{prefix}.default", fallback))

    return {kind: KindTimes(of("queue.lease_ms", kind, 60), of("queue.timeout_ms", kind, 900)) for kind in kinds}


def listen(connection: Connection) -> None:
    """Listen to the wake-ups of every event domain, of jobs without one, and of the event log."""
    with translated(connection):
        rows = connection.execute("select event_domain from penstock.event_domain").fetchall()
        for domain in ("any", _OUTBOX, *(row[0] for row in rows)):
            connection.execute(sql.SQL("listen {}").format(sql.Identifier(f"queue_wake_{domain}")))


def woken(connection: Connection, timeout_s: float) -> Literal["jobs", "events"] | None:
    """Wait for a wake-up, at most this long: what has come."""
    with translated(connection):
        for notify in connection.notifies(timeout=timeout_s, stop_after=1):
            return "events" if notify.channel == f"queue_wake_{_OUTBOX}" else "jobs"
    return None


def wait_briefly(connection: Connection) -> None:
    """From now on a statement that has to wait for a lock gives up soon (Busy): a report must not hang on one job."""
    with translated():
        connection.execute("set lock_timeout = '200ms'")


@contextmanager
def notices(connection: Connection, into: list[str]) -> Iterator[None]:
    """Collect the server's notices while the block runs."""

    def handler(diagnostic: object) -> None:
        into.append(str(getattr(diagnostic, "message_primary", diagnostic)))

    connection.add_notice_handler(handler)
    try:
        yield
    finally:
        connection.remove_notice_handler(handler)
