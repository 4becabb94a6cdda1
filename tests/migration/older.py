"""A database as it was before playbooks of several steps (migration 0006), and what its users left there.

at_0006.sql.gz is a pg_dump of a database that the code of that time had migrated, with its functions, views and
seeds. What is filled in here is written by those functions.
"""

import gzip
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, LiteralString

from penstock.kernel import executions, jobs, schedules, subscriptions
from penstock.kernel.connection import Connection
from penstock.kernel.jobs import json_text
from penstock.model import Json
from tests.events import support as event_plane
from tests.ingest.support import Runtime, offsets
from tests.sql.support import enqueue, enqueue_later, fail, finish, rows, take_one, value

DUMP = Path(__file__).with_name("at_0006.sql.gz")
SINGLE, ORDERS = "shop/process", "subscriptions/orders"
FUNCTION = "tests.acceptance.apps.orders:process"


def restore(db: Connection) -> None:
    with db.transaction():
        db.execute("set local check_function_bodies = off; set local client_min_messages = warning")
        db.execute(gzip.decompress(DUMP.read_bytes()))
    # what an operator does who restores a dump: transactions of another server have other numbers
    value(db, "select penstock.fn_outbox_rebase()::text")


@dataclass
class Filled:
    """Jobs and executions by what they were when the database was migrated; tokens of those that a worker held."""

    jobs: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    executions: dict[str, int] = field(default_factory=dict)
    runtime: Runtime | None = None


def fill(db: Connection) -> Filled:
    filled = Filled()
    _jobs(db, filled)
    _register(db, SINGLE, "Playbook", {"workload": {"currency": "EUR"}, "workflow": [_step()]})
    tuned = _step(retry={"max_attempts": 2}, pool="priority", lane="one at a time")
    _register(db, "shop/tuned", "Playbook", {"workflow": [_step()]})
    _register(db, "shop/tuned", "Playbook", {"workflow": [tuned]})
    _executions(db, filled)
    _subscription(db, filled)
    event_plane.known(db)
    event_plane.live(db)
    event_plane.emit(db, "waits")
    value(db, "select penstock.fn_event_subscription_set('user:ann', 'kg')::text")
    schedules.schedule_set(db, "nightly", {"kind": "nightly"}, every="1 hour")
    return filled


def _jobs(db: Connection, filled: Filled) -> None:
    for kind in ("succeeded", "dead", "cancelled", "leased", "running", "cancelling", "retrying"):
        filled.jobs[kind] = enqueue(db, kind)
        if kind == "cancelled":
            jobs.cancel(db, filled.jobs[kind])
            continue
        claim = take_one(db, start=kind != "leased")
        filled.tokens[kind] = claim.lease_token
        if kind == "succeeded":
            jobs.finish(db, [claim.job_id], [claim.lease_token], ['{"ok": true}'])
        elif kind in ("dead", "retrying"):
            fail(db, claim, {"type": "Boom", "permanent": kind == "dead"})
        elif kind == "cancelling":
            jobs.cancel(db, claim.job_id)
    filled.jobs["ready"] = enqueue(db, "ready", idempotency_key="once", safe_payload={"n": 1})
    filled.jobs["scheduled"] = enqueue_later(db, "scheduled")
    filled.jobs["first of lane"] = enqueue(db, "laned", lane="l")
    filled.jobs["second of lane"] = enqueue(db, "laned", lane="l")


def _step(**more: Any) -> Json:
    return {"step": "start", "tool": {"kind": "python", "function": FUNCTION}, **more}


def _register(db: Connection, path: str, kind: str, content: Json) -> None:
    whole = {"apiVersion": "penstock/v1", "kind": kind, "metadata": {"name": path, "path": path}, **content}
    rows(db, "select penstock.fn_catalog_register(%s, %s, %s::jsonb, '')", path, kind, json_text(whole))


def _executions(db: Connection, filled: Filled) -> None:
    for name in ("succeeded", "dead", "ready", "tuned"):
        request = {"playbook": SINGLE, "payload": {"order": name}, "idempotency_key": name}
        if name == "tuned":
            request["playbook"] = "shop/tuned"
        filled.executions[name] = executions.execute(db, request)[0]
        if name in ("succeeded", "dead"):
            (claim,) = jobs.claim(db, "default", 1, kinds=["tool:python"], start=True)
            fail(db, claim, {"type": "Boom", "permanent": True}) if name == "dead" else finish(db, claim)


def _subscription(db: Connection, filled: Filled) -> None:
    spec = {"source": "kafka", "mode": "pull", "auth": "kafka_main", "topic": "orders", "group": "penstock"}
    _register(
        db, ORDERS, "Subscription", {"spec": {**spec, "dispatch": {"playbook": SINGLE, "payload_from": "message.json"}}}
    )
    subscriptions.move(db, ORDERS, "activate")
    filled.runtime = Runtime(db, ORDERS)
    filled.runtime.put(*offsets(0, 1, 2, body=b'{"order": "message"}'))
    filled.runtime.commit()
    # staged, and not committed when the database is migrated
    filled.runtime.put(*offsets(3, 4, body=b'{"order": "message"}'))


def contents(db: Connection, tables: list[str]) -> dict[str, list[Json]]:
    """Every row, all but what the clock or a migration writes."""
    return {one: [row for (row,) in db.execute(f"select to_jsonb(t) from penstock.{one} t".encode())] for one in tables}


TABLES: LiteralString = """
select c.relname from pg_class c
 where c.relnamespace = 'penstock'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
   and c.relname !~ '^schema_' order by 1
"""
