"""The demo's changes of a table: each becomes an event, the event a job, and a signed request to a receiver of ours."""

import json
import secrets
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import UUID

from penstock.cli.demo.workers import Workers
from penstock.cli.output import waiting
from penstock.kernel import admin, consumers, events, outbound, sql_routes
from penstock.kernel.connection import Connection
from penstock.model import Json

DOMAIN, TYPE = "demo", "order_paid"
CONSUMER, ROUTE, HOOK = "receipts", "demo_order.paid", "warehouse"
KIND = "demo.receipt"
_ALIAS = "demo_hooks"
_ORDERS = 100
_STALL_S = 60.0
_LOOK_S = 0.05
_REVIEWER = "user:demo"


@dataclass(frozen=True)
class Changed:
    """What became of the rows."""

    rows: int
    events: int
    jobs: int
    delivered: int
    seconds: float
    example: UUID
    problems: list[str]


def write_secret(folder: Path) -> Path:
    """The credentials of the demo's workers: what signs their requests."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "hooks.yaml"
    file.touch(0o600)
    file.chmod(0o600)
    file.write_text(json.dumps({_ALIAS: {"secret": f"whsec_{b64encode(secrets.token_bytes(32)).decode()}"}}))
    return file


def change(connection: Connection, workers: Workers) -> Changed:
    """Set it all up, each through its dry run and review; then update the rows, and wait for what follows."""
    with _receiver() as (url, received), waiting("routing a table's changes: dry runs first, then live"):
        _set_up(connection, url, workers)
        began = time.monotonic()
        connection.execute("update demo_order set status = 'paid' where order_id > 0")
        _until(lambda: _count(connection, _SENT) == _ORDERS, "every change has been delivered", workers)
        _until(lambda: _count(connection, _DONE) == _ORDERS, "every change's job has ended", workers)
        seconds = time.monotonic() - began
        (example,) = _row(connection, _EXAMPLE)
        changed = Changed(
            _ORDERS, _count(connection, _EVENTS), _count(connection, _DONE), len(set(received)), seconds, example, []
        )
    for what, number in (("events", changed.events), ("jobs", changed.jobs), ("deliveries", changed.delivered)):
        if number != _ORDERS:
            changed.problems.append(f"{what} of {_ORDERS} changed rows: {number}")
    return changed


_LIVE = "subject_ref::bigint > 0 and event_domain = 'demo'"
_EVENTS = f"select count(*) from penstock.event_outbox where {_LIVE}"
_EXAMPLE = f"select event_id from penstock.event_outbox where {_LIVE} order by seq desc limit 1"
_SENT = "select count(*) from penstock.iu_route_attempt where status = 'sent'"
_DONE = (
    "select count(*) from penstock.job j join penstock.job_outcome o using (job_id)"
    f" where j.job_kind = '{KIND}' and o.status = 'succeeded'"
)


def _set_up(connection: Connection, url: str, workers: Workers) -> None:
    connection.execute("create table demo_order (order_id bigint primary key, status text not null)")
    # those below zero are for the dry runs
    connection.execute("insert into demo_order select n, 'new' from generate_series(-9, %s) n", [_ORDERS])
    events.domain_register(connection, DOMAIN)
    events.type_register(connection, DOMAIN, TYPE, "update")
    for gate in ("iu_core.routes_enabled", "iu_core.route_worker_enabled"):
        admin.config_set(connection, gate, "true")
    _route(connection)
    consumers.register(connection, CONSUMER, DOMAIN, TYPE, KIND, "{event_id}:receipt")
    consumers.switch(connection, CONSUMER, enabled=True)
    target = {"url": f"{url}/orders", "secret": _ALIAS}
    definition = {"event_domain": DOMAIN, "event_type": TYPE, "route_kind": "http", "target": target}
    outbound.route_set(connection, HOOK, definition, enabled=True)
    _try(connection)
    _until(lambda: bool(consumers.noted(connection, CONSUMER)), "the consumer has run dry", workers)
    _until(lambda: bool(outbound.attempts(connection, HOOK)), "the outbound route has run dry", workers)
    consumers.switch(connection, CONSUMER, enabled=True, dry_run=False, reviewed_by=_REVIEWER)
    outbound.route_set(connection, HOOK, dry_run=False, reviewed_by=_REVIEWER)


def _route(connection: Connection) -> None:
    definition: Json = {
        "source_schema": "public",
        "source_table": "demo_order",
        "sql_event": "update",
        "target_event_domain": DOMAIN,
        "target_event_type": TYPE,
        "payload_contract": {"keep_refs": ["status"]},
        "source_filter": {"changed": ["status"]},
    }
    sql_routes.route_set(connection, ROUTE, definition, enabled=True)
    _try(connection)
    sql_routes.route_set(connection, ROUTE, dry_run=False, reviewed_by=_REVIEWER)


def _try(connection: Connection) -> None:
    """One change that is not counted."""
    connection.execute(
        "update demo_order set status = 'tried' where order_id ="
        " (select order_id from demo_order where status = 'new' and order_id < 0 limit 1)"
    )


@contextmanager
def _receiver() -> Iterator[tuple[str, list[str]]]:
    """Its address, and the ids of what it was sent."""
    received: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            received.append(str(self.headers["webhook-id"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Not on the demo's screen."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=[_LOOK_S], daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", received
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _until(condition: Callable[[], bool], what: str, workers: Workers) -> None:
    give_up_at = time.monotonic() + _STALL_S
    while not condition():
        workers.check()
        if time.monotonic() > give_up_at:
            raise workers.failure(f"not within {_STALL_S:.0f} s: {what}")
        time.sleep(_LOOK_S)


def _count(connection: Connection, query: str) -> int:
    (number,) = _row(connection, query)
    return int(number)


def _row(connection: Connection, query: str) -> tuple[Any, ...]:
    row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row
