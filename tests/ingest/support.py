"""Subscriptions, runtimes and staged messages, without a source."""

import json
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from penstock.kernel import catalog, runtimes, subscriptions
from penstock.kernel.connection import Connection
from penstock.kernel.runtimes import Committed
from penstock.model import Json

PATH = "subscriptions/orders"
PLAYBOOK = "domain/process_order"


def playbook(db: Connection, path: str = PLAYBOOK, **step: Any) -> str:
    """Register a one-step playbook."""
    content = {
        "apiVersion": "penstock/v1",
        "kind": "Playbook",
        "metadata": {"name": path.rpartition("/")[2], "path": path},
        "workflow": [{"step": "start", "tool": {"kind": "noop"}, **step}],
    }
    catalog.register(db, path, "Playbook", content, "")
    return path


KAFKA: Json = {"source": "kafka", "topic": "orders", "group": "penstock"}


def subscription(db: Connection, path: str = PATH, *, active: bool = True, at: Json = KAFKA, **spec: Any) -> str:
    """Register a Kafka subscription, unless another source is given, and activate it."""
    content = {
        "apiVersion": "penstock/v1",
        "kind": "Subscription",
        "metadata": {"name": path.rpartition("/")[2], "path": path},
        "spec": {
            "mode": "pull",
            "auth": "main",
            "dispatch": {"playbook": PLAYBOOK},
            **at,
            **spec,
        },
    }
    catalog.register(db, path, "Subscription", content, "")
    if active:
        subscriptions.move(db, path, "activate")
    return path


@dataclass
class Runtime:
    """One runtime of one subscription, with its staging table."""

    db: Connection
    path: str = PATH
    incarnation: UUID = field(default_factory=uuid4)

    def __post_init__(self) -> None:
        self.lease = runtimes.lease(self.db, self.path, self.incarnation)
        self.stage = runtimes.stage_open(self.db, self.path, self.lease.token)
        self.expected: dict[str, int] = {}
        self.batch = 1

    def put(self, *rows: Json, attempt: str | None = None) -> None:
        """Stage messages: offset, and any column of the staging table."""
        attempt = attempt or f"a{self.batch}"
        for row in rows:
            values = {
                "part": "orders/0",
                "message_id": f"{row.get('part', 'orders/0')}:{row['source_offset']}",
                "attributes": "[]",
                "body": b"{}",
                "attempt": attempt,
                **row,
            }
            names = ", ".join(values)
            places = ", ".join(f"%({name})s" for name in values)
            self.db.execute(f"insert into penstock.{self.stage} ({names}) values ({places})".encode(), values)
            self.expected[attempt] = self.expected.get(attempt, 0) + 1

    def commit(self, positions: Json | None = None, expected: dict[str, int] | None = None) -> Committed:
        """Commit everything staged so far; positions follow from it unless they are given."""
        if positions is None:
            rows = self.db.execute(
                f"select part, max(source_offset) + 1 from penstock.{self.stage}"
                " where attempt = any(%s) group by part".encode(),
                [list(self.expected)],
            ).fetchall()
            positions = {part: {"identity": "t1", "next": following} for part, following in rows}
        wanted = self.expected if expected is None else expected
        report = runtimes.commit(self.db, self.path, self.lease.token, positions, wanted)
        self.expected = {}
        self.batch += 1
        return report


def offsets(*numbers: int, **columns: Any) -> list[Json]:
    return [{"source_offset": number, **columns} for number in numbers]


def attributes(**headers: str) -> str:
    return json.dumps([[name, value] for name, value in headers.items()])
