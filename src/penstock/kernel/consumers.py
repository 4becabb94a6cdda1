"""Trigger-out: which event becomes which job."""

from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from psycopg.rows import class_row

from penstock.errors import BadRequest
from penstock.kernel.connection import Connection, translated
from penstock.model import Json


@dataclass(frozen=True)
class Consumer:
    consumer_id: str
    event_domain: str
    event_type: str
    event_stream: str | None
    job_kind: str
    executor: str
    idempotency_key_template: str
    payload_ref_template: str | None
    enabled: bool
    dry_run: bool
    fail_closed: bool
    priority: int
    rate_per_s: Decimal | None
    notes: str | None
    registered_by: str
    registered_at: datetime
    reviewed_by: str | None
    reviewed_at: datetime | None

    @property
    def state(self) -> str:
        return "disabled" if not self.enabled else "dry run" if self.dry_run else "live"


@dataclass(frozen=True)
class Dispatch:
    """What a consumer made, or would have made, of an event that became no job."""

    event_id: UUID
    outcome: str
    dispatched_at: datetime
    job_kind: str
    idempotency_key: str | None
    payload_ref: str | None
    job_id: int | None
    detail: str | None


_COLUMNS = ", ".join(field.name for field in fields(Consumer))


def register(
    connection: Connection,
    consumer_id: str,
    domain: str,
    event_type: str,
    job_kind: str,
    key_template: str,
    *,
    stream: str | None = None,
    executor: str = "PG_worker",
    ref_template: str | None = None,
    priority: int = 0,
    registered_by: str | None = None,
    rate_per_s: float | None = None,
    fail_closed: bool = True,
    notes: str | None = None,
) -> None:
    """fn_consumer_register."""
    with translated(connection):
        connection.execute(
            "select penstock.fn_consumer_register(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s::numeric, %s, %s)",
            [
                consumer_id,
                domain,
                event_type,
                stream,
                job_kind,
                executor,
                key_template,
                ref_template,
                priority,
                registered_by,
                rate_per_s,
                fail_closed,
                notes,
            ],
        )


def switch(
    connection: Connection,
    consumer_id: str,
    *,
    enabled: bool | None = None,
    dry_run: bool | None = None,
    reviewed_by: str | None = None,
) -> None:
    """fn_consumer_set."""
    with translated(connection):
        connection.execute(
            "select penstock.fn_consumer_set(%s, %s, %s, %s)", [consumer_id, enabled, dry_run, reviewed_by]
        )


def consumer_list(connection: Connection) -> list[Consumer]:
    with translated(connection), connection.cursor(row_factory=class_row(Consumer)) as cursor:
        return cursor.execute(
            f"select {_COLUMNS} from penstock.consumer_registry order by consumer_id".encode()
        ).fetchall()


def show(connection: Connection, consumer_id: str) -> Consumer:
    found = [one for one in consumer_list(connection) if one.consumer_id == consumer_id]
    if not found:
        raise BadRequest(f"there is no consumer {consumer_id!r}", "penstock consumer list shows them.")
    return found[0]


def noted(connection: Connection, consumer_id: str, limit: int = 20) -> list[Dispatch]:
    """The newest events of a consumer that became no job: dry runs, duplicates, failures."""
    with translated(connection), connection.cursor(row_factory=class_row(Dispatch)) as cursor:
        return cursor.execute(
            "select event_id, outcome, dispatched_at, job_kind, idempotency_key, payload_ref, job_id, detail"
            " from penstock.consumer_dispatch where consumer_id = %s order by dispatched_at desc limit %s",
            [consumer_id, limit],
        ).fetchall()


def dispatch_run(connection: Connection, cursor: str = "consumers", limit: int = 1000) -> Json:
    """fn_consumer_dispatch_run."""
    with translated(connection):
        row = connection.execute("select penstock.fn_consumer_dispatch_run(%s, %s)", [cursor, limit]).fetchone()
    assert row is not None
    report: Json = row[0]
    return report
