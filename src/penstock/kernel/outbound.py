"""Outbound routes: which event is delivered where, by whom, and what came of it."""

from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from penstock.errors import BadRequest
from penstock.kernel.connection import Connection, translated
from penstock.model import Json

DEFAULT_WORKER = "iu_outbound_default"


@dataclass(frozen=True)
class OutboundRoute:
    route_code: str
    event_domain: str
    event_type: str | None
    event_stream: str | None
    route_kind: str
    target: Json
    enabled: bool
    dry_run: bool
    notes: str | None
    registered_by: str
    registered_at: datetime
    reviewed_by: str | None
    reviewed_at: datetime | None

    @property
    def state(self) -> str:
        return "disabled" if not self.enabled else "dry_run" if self.dry_run else "live"


@dataclass(frozen=True)
class Attempt:
    attempt_id: int
    worker_name: str
    route_code: str | None
    route_kind: str | None
    event_ref: UUID
    status: str
    attempt_no: int
    job_id: int | None
    error: Json | None
    attempted_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True)
class RouteWorker:
    """v_iu_route_worker_status."""

    worker_name: str
    event_domain: str | None
    routes_enabled: bool
    worker_enabled: bool
    runs: int
    events: int
    last_run_at: datetime | None
    last_run_summary: Json | None
    tick_id: int
    moved_at: datetime
    ticks_behind: int


_ROUTE = ", ".join(field.name for field in fields(OutboundRoute))
_ATTEMPT = ", ".join(field.name for field in fields(Attempt))
_WORKER = ", ".join(field.name for field in fields(RouteWorker))


def route_set(
    connection: Connection,
    route_code: str,
    definition: Json | None = None,
    *,
    enabled: bool | None = None,
    dry_run: bool | None = None,
    reviewed_by: str | None = None,
    actor: str | None = None,
) -> str:
    """fn_outbound_route_set: the route's state."""
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_outbound_route_set(%s, %s, %s, %s, %s, %s)",
            [route_code, None if definition is None else Jsonb(definition), enabled, dry_run, reviewed_by, actor],
        ).fetchone()
    assert row is not None
    return str(row[0])


def route_list(connection: Connection) -> list[OutboundRoute]:
    with translated(connection), connection.cursor(row_factory=class_row(OutboundRoute)) as cursor:
        return cursor.execute(
            f"select {_ROUTE} from penstock.iu_outbound_route order by route_code".encode()
        ).fetchall()


def show(connection: Connection, route_code: str) -> OutboundRoute:
    found = [one for one in route_list(connection) if one.route_code == route_code]
    if not found:
        raise BadRequest(f"there is no outbound route {route_code!r}", "penstock route list --outbound shows them.")
    return found[0]


def attempts(connection: Connection, route_code: str, limit: int = 20) -> list[Attempt]:
    """The newest attempts of a route."""
    with translated(connection), connection.cursor(row_factory=class_row(Attempt)) as cursor:
        return cursor.execute(
            f"select {_ATTEMPT} from penstock.v_iu_route_attempt_recent where route_code = %s"
            " order by attempted_at desc, attempt_id desc limit %s".encode(),
            [route_code, limit],
        ).fetchall()


def workers(connection: Connection) -> list[RouteWorker]:
    with translated(connection), connection.cursor(row_factory=class_row(RouteWorker)) as cursor:
        return cursor.execute(
            f"select {_WORKER} from penstock.v_iu_route_worker_status order by worker_name".encode()
        ).fetchall()


def letters_open(connection: Connection) -> dict[str, int]:
    """How many dead letters each worker has left open."""
    with translated(connection):
        rows = connection.execute(
            "select worker_name, count(*) from penstock.v_iu_route_dead_letter_open group by worker_name"
        ).fetchall()
    return dict(rows)


def worker_set(
    connection: Connection,
    worker: str,
    domain: str | None = None,
    *,
    reset: bool = False,
    actor: str | None = None,
) -> None:
    """fn_iu_route_worker_set."""
    with translated(connection):
        connection.execute("select penstock.fn_iu_route_worker_set(%s, %s, %s, %s)", [worker, domain, reset, actor])


def worker_run(connection: Connection, worker: str = DEFAULT_WORKER, limit: int = 1000) -> Json:
    """fn_iu_route_worker_run."""
    with translated(connection):
        row = connection.execute("select penstock.fn_iu_route_worker_run(%s, %s)", [worker, limit]).fetchone()
    assert row is not None
    report: Json = row[0]
    return report


def worker_names(connection: Connection) -> list[str]:
    """Those that have something to do: none while a gate is closed."""
    with translated(connection):
        rows = connection.execute(
            "select worker_name from penstock.iu_route_worker_cursor"
            " where penstock.fn_iu_core_routes_enabled() and penstock.fn_iu_route_worker_enabled() order by 1"
        ).fetchall()
    return [row[0] for row in rows]


def deliver(connection: Connection, attempt_id: int, lease_token: int | None = None) -> Json:
    """fn_iu_route_deliver: what is left to do for a queued attempt, or what it is."""
    with translated(connection):
        row = connection.execute("select penstock.fn_iu_route_deliver(%s, %s)", [attempt_id, lease_token]).fetchone()
    assert row is not None
    delivery: Json = row[0]
    return delivery


def sent(connection: Connection, attempt_id: int, lease_token: int | None = None) -> bool:
    """fn_iu_route_sent: whether it was queued until now, and ours to deliver."""
    with translated(connection):
        row = connection.execute("select penstock.fn_iu_route_sent(%s, %s)", [attempt_id, lease_token]).fetchone()
    assert row is not None
    return bool(row[0])
