"""The functions of a subscription's life, and what can be seen of it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from penstock.errors import NotActive, UnknownSubscription
from penstock.kernel.connection import Connection, translated
from penstock.model import Json


@dataclass(frozen=True)
class SubscriptionView:
    """One row of v_subscription."""

    path: str
    state: str
    version: int
    source: str
    mode: str
    activation: str
    moved_at: datetime
    incarnation: UUID | None
    lease_until: datetime | None
    is_running: bool
    started_at: datetime | None
    backlog: int | None
    backlog_at: datetime | None
    is_stalled: bool
    last_commit_at: datetime | None
    received: int
    executions: int
    deduplicated: int
    dead_lettered: int
    replays: int
    batches: int
    rate: float | None
    subscription_id: int
    dead_letters_open: int


@dataclass(frozen=True)
class Position:
    """One part of a source in the ledger."""

    part: str
    identity: str
    next_offset: int
    moved_at: datetime


@dataclass(frozen=True)
class Happening:
    """One fact of a subscription's history."""

    happened_at: datetime
    happening: str
    actor: str
    detail: Json | None


def not_active(path: str, state: str) -> NotActive:
    """Why a runtime does not read it."""
    return NotActive(
        f"subscription {path} is {state}: it is not to be read\nRun: penstock subscription activate {path}"
    )


def move(connection: Connection, path: str, action: str, actor: str | None = None) -> str:
    """fn_subscription_move: the state it is in now."""
    with translated(connection):
        row = connection.execute("select penstock.fn_subscription_move(%s, %s, %s)", [path, action, actor]).fetchone()
    assert row is not None
    return str(row[0])


def show(connection: Connection, path: str) -> SubscriptionView:
    """One subscription of v_subscription."""
    found = listed(connection, path)
    if not found:
        raise UnknownSubscription(f"subscription {path} is not registered", "penstock subscription list shows what is.")
    return found[0]


def listed(connection: Connection, path: str | None = None) -> list[SubscriptionView]:
    """v_subscription, by path."""
    with translated(connection), connection.cursor(row_factory=class_row(SubscriptionView)) as cursor:
        return cursor.execute(
            "select * from penstock.v_subscription where path = coalesce(%s::text, path) order by path", [path]
        ).fetchall()


def positions(connection: Connection, path: str) -> list[Position]:
    """The ledger of one subscription."""
    with translated(connection), connection.cursor(row_factory=class_row(Position)) as cursor:
        return cursor.execute(
            "select part, identity, next_offset, moved_at from penstock.v_ingest_position"
            " where path = %s order by part",
            [path],
        ).fetchall()


def history(connection: Connection, path: str, limit: int = 20) -> list[Happening]:
    """What happened to it, newest first."""
    with translated(connection), connection.cursor(row_factory=class_row(Happening)) as cursor:
        return cursor.execute(
            "select happened_at, happening, actor, detail from penstock.v_subscription_event where subscription = %s"
            " order by execution_event_id desc limit %s",
            [path, limit],
        ).fetchall()
