"""Steps the tests of outbound routes share."""

from typing import Any
from uuid import UUID

from penstock.kernel import events, outbound
from penstock.kernel.connection import Connection
from tests.events.support import DOMAIN, TYPE, known
from tests.sql.support import configure, rows

GATES = ("iu_core.routes_enabled", "iu_core.route_worker_enabled")
NOTIFY = {"channel": "told"}


def opened(db: Connection) -> None:
    """The type is known, and the gates are open."""
    known(db)
    for gate in GATES:
        configure(db, gate, "true")


def route(db: Connection, code: str, kind: str = "notify", state: str = "live", **more: Any) -> None:
    target = more.pop("target", NOTIFY)
    definition = {"event_domain": DOMAIN, "event_type": TYPE, "route_kind": kind, "target": target, **more}
    outbound.route_set(db, code, definition)
    if state == "disabled":
        return
    outbound.route_set(db, code, enabled=True)
    if state == "live":
        db.execute(
            "insert into penstock.iu_route_attempt (worker_name, route_code, event_ref, status, idempotency_key)"
            " values ('test', %s, gen_random_uuid(), 'dry_run', 'seen ' || gen_random_uuid())",
            [code],
        )
        assert outbound.route_set(db, code, dry_run=False, reviewed_by="user:ann") == "live"


def run(db: Connection, **options: Any) -> dict[str, int]:
    events.tick(db)
    total: dict[str, int] = {}
    while True:
        report = outbound.worker_run(db, **options)
        for name, count in report.items():
            if name != "more":
                total[name] = total.get(name, 0) + count
        if not report["more"]:
            return total


def attempts(db: Connection, *events_of: UUID) -> list[tuple[Any, ...]]:
    return rows(
        db,
        "select route_code, status, attempt_no from penstock.iu_route_attempt where event_ref = any (%s::uuid[])"
        " order by route_code nulls last, attempt_no",
        list(events_of),
    )
