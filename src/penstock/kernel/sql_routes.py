"""Trigger-in: which SQL change becomes which event."""

from dataclasses import dataclass, fields
from datetime import datetime

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from penstock.errors import BadRequest
from penstock.kernel.connection import Connection, translated
from penstock.model import Json


@dataclass(frozen=True)
class SqlRoute:
    route_code: str
    source_schema: str | None
    source_table: str | None
    sql_event: str
    target_event_domain: str
    target_event_type: str
    target_event_stream: str
    enabled: bool
    dry_run: bool
    fail_closed: bool
    idempotency_policy: Json | None
    payload_contract: Json | None
    source_filter: Json | None
    notes: str | None
    registered_by: str
    registered_at: datetime
    reviewed_by: str | None
    reviewed_at: datetime | None
    state: str


@dataclass(frozen=True)
class RouteNote:
    """What a route would have emitted of a statement, or could not."""

    noted_at: datetime
    outcome: str
    events: int
    sample: list[Json] | None
    detail: str | None


_COLUMNS = ", ".join(f"r.{field.name}" for field in fields(SqlRoute) if field.name != "state")


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
    """fn_sql_event_route_set: the route's state."""
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_sql_event_route_set(%s, %s, %s, %s, %s, %s)",
            [route_code, None if definition is None else Jsonb(definition), enabled, dry_run, reviewed_by, actor],
        ).fetchone()
    assert row is not None
    return str(row[0])


def apply(connection: Connection, route_code: str) -> str:
    """fn_sql_event_route_apply: the route's state."""
    with translated(connection):
        row = connection.execute("select penstock.fn_sql_event_route_apply(%s)", [route_code]).fetchone()
    assert row is not None
    return str(row[0])


def route_list(connection: Connection) -> list[SqlRoute]:
    with translated(connection), connection.cursor(row_factory=class_row(SqlRoute)) as cursor:
        return cursor.execute(
            f"select {_COLUMNS}, penstock.sql_route_state(r) as state from penstock.iu_sql_event_route r"
            " order by r.route_code".encode()
        ).fetchall()


def show(connection: Connection, route_code: str) -> SqlRoute:
    found = [one for one in route_list(connection) if one.route_code == route_code]
    if not found:
        raise BadRequest(f"there is no SQL route {route_code!r}", "penstock route list --sql shows them.")
    return found[0]


def noted(connection: Connection, route_code: str, limit: int = 20) -> list[RouteNote]:
    """What it would have emitted, or could not; the newest first."""
    with translated(connection), connection.cursor(row_factory=class_row(RouteNote)) as cursor:
        return cursor.execute(
            "select noted_at, outcome, events, sample, detail from penstock.sql_event_route_note"
            " where route_code = %s order by noted_at desc limit %s",
            [route_code, limit],
        ).fetchall()
