"""Steps the tests of the event plane share."""

from typing import Any
from uuid import UUID

from penstock.kernel import consumers, events, sql_routes
from penstock.kernel.connection import Connection
from penstock.model import Json
from tests.sql.support import rows, value

DOMAIN, TYPE = "kg", "grew"
CONSUMER, KIND = "greeter", "greet"


def known(db: Connection, event_type: str = TYPE, stream: str = "update") -> None:
    """Register the type the tests emit."""
    events.type_register(db, DOMAIN, event_type, stream)


def emit(db: Connection, ref: str | None = None, event_type: str = TYPE, **more: Any) -> UUID:
    return events.emit(db, DOMAIN, event_type, subject_table="node", subject_ref=ref, **more)


def live(db: Connection, consumer: str = CONSUMER, kind: str = KIND, **more: Any) -> None:
    """A consumer that has run dry, was reviewed, and is live."""
    consumers.register(db, consumer, DOMAIN, TYPE, kind, more.pop("key", f"{{event_id}}:{consumer}"), **more)
    consumers.switch(db, consumer, enabled=True)
    emit(db, "dry", correlation_id="dry")
    dispatched(db)
    consumers.switch(db, consumer, enabled=True, dry_run=False, reviewed_by="user:ann")


def routed(db: Connection, code: str, definition: Json) -> None:
    """A SQL route that has run dry, was reviewed, and is live."""
    sql_routes.route_set(db, code, definition, enabled=True)
    db.execute(
        "insert into penstock.sql_event_route_note (route_code, outcome, events) values (%s, 'dry_run', 1)", [code]
    )
    assert sql_routes.route_set(db, code, dry_run=False, reviewed_by="user:ann") == "live"


def own_consumers(db: Connection) -> list[str]:
    """Those a new database does not have by itself."""
    return [one.consumer_id for one in consumers.consumer_list(db) if one.registered_by != "system:migrate"]


def dispatched(db: Connection, **options: Any) -> Json:
    """Tick, and dispatch all there is; the sums."""
    events.tick(db)
    total: dict[str, int] = {}
    while True:
        report = consumers.dispatch_run(db, **options)
        for name in ("events", "jobs", "dry_run", "duplicates", "failed"):
            total[name] = total.get(name, 0) + report[name]
        if not report["more"]:
            return total


def jobs_of(db: Connection, consumer: str = CONSUMER) -> list[UUID]:
    """The events this consumer has made jobs of, in the order of the jobs."""
    found = rows(
        db, "select causation_event_id from penstock.job where actor = %s order by job_id", f"consumer:{consumer}"
    )
    return [row[0] for row in found]


def letters(db: Connection) -> list[Json]:
    return [
        {"consumer": row[0], "event": row[1], "error": row[2]["message"]}
        for row in rows(
            db,
            "select consumer_id, event_id, error from penstock.consumer_dead_letter where resolved_at is null"
            " order by dead_letter_id",
        )
    ]


def newest_tick(db: Connection) -> int:
    return int(value(db, "select max(tick_id) from penstock.outbox_tick"))
