"""The event log: emit, look, tick."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.pq import TransactionStatus
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from penstock.errors import BadRequest
from penstock.kernel.connection import Connection, translated
from penstock.model import Json


@dataclass(frozen=True)
class Event:
    event_id: UUID
    created_at: datetime
    event_domain: str
    event_type: str
    event_stream: str
    subject_table: str | None
    subject_ref: str | None
    payload: Json | None
    actor: str
    correlation_id: str | None
    causation_event_id: UUID | None
    causation_depth: int
    trace: str | None
    seq: int


_COLUMNS = ", ".join(field.name for field in fields(Event))


def domain_register(connection: Connection, domain: str, actor: str | None = None) -> None:
    """fn_event_domain_register."""
    with translated(connection):
        connection.execute("select penstock.fn_event_domain_register(%s, %s)", [domain, actor])


def type_register(
    connection: Connection,
    domain: str,
    event_type: str,
    stream: str,
    actor: str | None = None,
    *,
    contract: Json | None = None,
) -> None:
    """fn_event_type_register."""
    with translated(connection):
        connection.execute(
            "select penstock.fn_event_type_register(%s, %s, %s, %s, %s)",
            [domain, event_type, stream, actor, None if contract is None else Jsonb(contract)],
        )


def emit(
    connection: Connection,
    domain: str,
    event_type: str,
    *,
    stream: str | None = None,
    subject_table: str | None = None,
    subject_ref: str | None = None,
    payload: Json | None = None,
    actor: str | None = None,
    correlation_id: str | None = None,
    causation_event_id: UUID | None = None,
    idempotency_key: str | None = None,
    trace: str | None = None,
) -> UUID:
    """fn_iu_emit_event."""
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_iu_emit_event(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [
                domain,
                event_type,
                stream,
                subject_table,
                subject_ref,
                None if payload is None else Jsonb(payload),
                actor,
                correlation_id,
                causation_event_id,
                idempotency_key,
                trace,
            ],
        ).fetchone()
    assert row is not None
    event_id: UUID = row[0]
    return event_id


def mark(connection: Connection, cause: UUID | None, correlation_id: str | None, trace: str | None) -> None:
    """Say why the transaction under way writes: the events of SQL routes have it."""
    if connection.autocommit and connection.info.transaction_status == TransactionStatus.IDLE:
        raise BadRequest("what caused a change is said within its transaction: use `with connection.transaction():`")
    caused = {"causation_event_id": cause, "correlation_id": correlation_id, "trace": trace}
    with translated(connection):
        for name, value in caused.items():
            connection.execute(
                "select set_config(%s, %s, true)", [f"penstock.{name}", "" if value is None else str(value)]
            )


def list_newest(
    connection: Connection,
    *,
    domain: str | None = None,
    event_type: str | None = None,
    before: UUID | None = None,
    limit: int = 50,
) -> list[Event]:
    """The newest events; `before` is the last one of the page before."""
    wanted: dict[str, Any] = {"event_domain": domain, "event_type": event_type}
    given = {column: value for column, value in wanted.items() if value is not None}
    narrowed = "".join(f" and {column} = %({column})s" for column in given)
    with translated(connection), connection.cursor(row_factory=class_row(Event)) as cursor:
        return cursor.execute(
            f"select {_COLUMNS} from penstock.event_outbox where (%(before)s::uuid is null or (tx_id, seq) <"
            " (select b.tx_id, b.seq from penstock.event_outbox b where b.event_id = %(before)s))"
            f"{narrowed} order by tx_id desc, seq desc limit %(limit)s".encode(),
            {**given, "before": before, "limit": limit},
        ).fetchall()


def show(connection: Connection, event_id: UUID) -> Event:
    with translated(connection), connection.cursor(row_factory=class_row(Event)) as cursor:
        found = cursor.execute(
            f"select {_COLUMNS} from penstock.event_outbox where event_id = %s".encode(), [event_id]
        ).fetchone()
    if found is None:
        raise BadRequest(f"there is no event {event_id}", "penstock event list shows the newest.")
    return found


def tick(connection: Connection, *, force: bool = False, within_s: float = 1.0) -> int | None:
    """fn_outbox_tick: None when there was nothing to tick for."""
    with translated(connection):
        row = connection.execute(
            "select penstock.fn_outbox_tick(%s, make_interval(secs => %s))", [force, within_s]
        ).fetchone()
    assert row is not None
    tick_id: int | None = row[0]
    return tick_id


def rebase(connection: Connection, actor: str | None = None) -> int:
    """fn_outbox_rebase."""
    with translated(connection):
        row = connection.execute("select penstock.fn_outbox_rebase(%s)", [actor]).fetchone()
    assert row is not None
    return int(row[0])


@dataclass(frozen=True)
class Letter:
    """An event in a recipient's inbox, with the rule that gives it."""

    event_id: UUID
    created_at: datetime
    event_domain: str
    event_type: str
    event_stream: str
    subject_table: str | None
    subject_ref: str | None
    payload: Json | None
    actor: str
    correlation_id: str | None
    causation_event_id: UUID | None
    rule: str


def subscription_set(
    connection: Connection,
    recipient: str,
    domain: str,
    *,
    event_type: str | None = None,
    stream: str | None = None,
    mute: bool = False,
    subject_table: str | None = None,
    payload: Json | None = None,
    actor: str | None = None,
) -> None:
    """fn_event_subscription_set: `subject_table` and `payload` narrow it."""
    with translated(connection):
        connection.execute(
            "select penstock.fn_event_subscription_set(%s, %s, %s, %s, %s, %s, %s, %s)",
            [recipient, domain, event_type, stream, mute, actor, subject_table, Jsonb(payload or {})],
        )


@dataclass(frozen=True)
class EventSubscription:
    """What a recipient reads, or mutes."""

    recipient_ref: str
    event_domain: str
    event_type: str | None
    event_stream: str | None
    scope_subject_table: str | None
    scope_filter: Json
    mute: bool
    set_by: str
    set_at: datetime


_SUBSCRIPTION = ", ".join(field.name for field in fields(EventSubscription))


def subscriptions(connection: Connection, recipient: str | None = None) -> list[EventSubscription]:
    """The rows of event_subscription, of one recipient or of all."""
    with translated(connection), connection.cursor(row_factory=class_row(EventSubscription)) as cursor:
        return cursor.execute(
            f"select {_SUBSCRIPTION} from penstock.event_subscription where recipient_ref = coalesce(%s, recipient_ref)"
            " order by recipient_ref, event_domain, event_type nulls first, event_subscription_id".encode(),
            [recipient],
        ).fetchall()


@dataclass(frozen=True)
class EventCursor:
    """A reader of the event log."""

    cursor_name: str
    moved_at: datetime
    oldest_unread_at: datetime | None
    is_live: bool
    is_stalled: bool
    is_lagging: bool

    @property
    def state(self) -> str:
        if not self.is_live:
            return "switched off"
        if self.is_stalled:
            return "stands still"
        if self.is_lagging:
            return "lags"
        return "reads" if self.oldest_unread_at is not None else "has read all"


def cursors(connection: Connection) -> list[EventCursor]:
    """v_event_cursor."""
    with translated(connection), connection.cursor(row_factory=class_row(EventCursor)) as cursor:
        return cursor.execute(
            "select cursor_name, moved_at, oldest_unread_at, is_live, is_stalled, is_lagging"
            " from penstock.v_event_cursor order by cursor_name"
        ).fetchall()


def recipients(connection: Connection, event_id: UUID) -> dict[str, str]:
    """fn_event_recipients: the rule by recipient."""
    with translated(connection):
        return dict(connection.execute("select * from penstock.fn_event_recipients(%s)", [event_id]).fetchall())


def inbox(connection: Connection, recipient: str, limit: int = 50) -> list[Letter]:
    """fn_event_inbox."""
    with translated(connection), connection.cursor(row_factory=class_row(Letter)) as cursor:
        return cursor.execute("select * from penstock.fn_event_inbox(%s, %s)", [recipient, limit]).fetchall()


def mark_read(connection: Connection, recipient: str, event_ids: list[UUID]) -> int:
    """fn_event_mark_read: how many were marked now."""
    with translated(connection):
        row = connection.execute("select penstock.fn_event_mark_read(%s, %s)", [recipient, event_ids]).fetchone()
    assert row is not None
    return int(row[0])
