"""`subscription explain`, `subscription test` and the pipeline say the same of thousands of random messages."""

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from penstock.catalog.entry import read_file, spec_of
from penstock.catalog.subscription import SubscriptionSpec
from penstock.cli.cases import try_all
from penstock.cli.rehearsal import Rehearsed, rehearse
from penstock.cli.samples import read_message
from penstock.cli.subjects import Subject, subject
from penstock.credentials import read_credentials
from penstock.directives.headers import Attribute, attributes_to_json
from penstock.kernel import admin, executions, subscriptions
from penstock.kernel.connection import Connection
from penstock.kernel.registration import register
from penstock.model import Json
from penstock.pipeline.runtime import Runtime
from penstock.routing import rules_of
from penstock.worker.envelope import envelope
from tests.parts.kafka import Kafka
from tests.pipeline.channels import channel

FILE = """\
apiVersion: penstock/v1
kind: Playbook
metadata: {path: shop/orders}
workload: {currency: EUR}
workflow: [{step: a, tool: {kind: noop}}]
---
apiVersion: penstock/v1
kind: Playbook
metadata: {path: shop/fraud}
workflow: [{step: a, pool: gpu, tool: {kind: noop}}]
---
apiVersion: penstock/v1
kind: Subscription
metadata: {path: subscriptions/random}
spec:
  source: kafka
  mode: pull
  topic: TOPIC
  auth: main
  dispatch: {playbook: shop/orders, payload_from: message.json}
  headers:
    directives:
      - {header: X-Route, controls: dispatch.playbook, allowed: [shop/fraud, shop/orders]}
      - {header: X-Second, controls: dispatch.playbook, allowed: [shop/fraud]}
      - {header: X-Pool, controls: dispatch.execution_pool, allowed: [gpu, priority]}
      - {header: X-Urgency, controls: priority, map: {high: priority, low: shared, é: gpu}}
      - {header: X-Key, controls: idempotency_key}
      - {header: Content-Type, controls: content_type}
    trace: {trust: TRUST, baggage_allowlist: [tenant, a.b]}
  dedup: {window_s: 3600}
"""
BODIES: list[bytes | None] = [
    *(b"{}", b'{"order": 7}', b"[1]", b'"text"', b"7", b"null", b'{"message": 1, "order": 2}', b'{"currency": "USD"}'),
    *(b"", b"{", b"\xff", b'{"a": "\\u0000"}', b'{"a": "\\ud800"}', b"NaN", b"[1,]", b"1e999999", None, b"9" * 5000),
]
Sent = tuple[bytes | None, list[Attribute]]


def _made(seed: int, spec: SubscriptionSpec, count: int) -> list[Sent]:
    random, rules = Random(seed), rules_of(spec)
    return [(random.choice(BODIES), _publishable(channel(random, rules))) for _ in range(count)]


def _publishable(attributes: list[Attribute]) -> list[Attribute]:
    """The producer takes names that are text, and ends them at U+0000."""
    return [(key, value) for key, value in attributes if isinstance(key, str) and "\0" not in key]


def _message(message_id: str, sent: Sent) -> Json:
    """As it would stand in a file."""
    body, attributes = sent
    said: Json = {"id": message_id, "attributes": json.loads(attributes_to_json(attributes))}
    return said if body is None else said | {"body": {"base64": b64encode(body).decode()}}


class Came:
    """What the pipeline and the commit have made of the messages, by id."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self.executed = self._by_id(
            "select m.message_id, j.playbook_ref, j.pool, j.idempotency_key, j.trace, m.directives, m.execution_id"
            " from penstock.ingest_message m join penstock.job j on j.job_id = m.execution_id"
        )
        self.dead = self._by_id(
            "select message_id, playbook, pool, dedup_key, trace, directives, reason from penstock.ingest_dead_letter"
        )
        self.deduplicated = self._by_id(
            "select detail ->> 'message_id', detail ->> 'key' from penstock.v_subscription_event"
            " where happening = 'subscription.message.deduplicated'"
        )

    def _by_id(self, query: str) -> dict[str, Sequence[Any]]:
        return {row[0]: row[1:] for row in self._db.execute(query.encode()).fetchall()}

    def expected(self, message_id: str) -> Json:
        """What a test in the subscription's file would have to expect."""
        if message_id in self.deduplicated:
            (key,) = self.deduplicated[message_id]
            return {"dedup_key": key.removeprefix("key:")} if key.startswith("key:") else {"dedup_key": message_id}
        if message_id in self.executed:
            ref, pool, key, trace, directives, _ = self.executed[message_id]
            return _plan(ref.partition("@")[0], pool, key or message_id, trace, directives, None)
        playbook, pool, key, trace, directives, reason = self.dead[message_id]
        chosen = {"playbook": playbook or "shop/orders"} | ({"pool": pool} if pool else {})
        return _plan(None, None, key or message_id, trace, directives, reason) | chosen

    def given(self, message_id: str, spec: SubscriptionSpec) -> Json:
        """What the worker would give the playbook."""
        message = executions.message(self._db, self.executed[message_id][-1])
        assert message is not None
        return envelope(message, spec)


def _plan(playbook: Any, pool: Any, key: str, trace: str, directives: Json, reason: Any) -> Json:
    named = {"playbook": playbook, "pool": pool}
    return {name: one for name, one in named.items() if one} | {
        "dedup_key": key,
        "trace": trace,
        "applied": directives["applied"],
        "ignored": directives["ignored"],
        "dead_letter": reason,
    }


def _explained(found: Subject, message: Json, file: Path) -> Rehearsed:
    """The plan of `explain --message FILE`."""
    file.write_text(json.dumps(message))
    return rehearse(found, read_message(str(file), found.spec))


def _settled(plan: Rehearsed, case: Json) -> Json:
    """A body Python cannot read becomes an execution, which the worker dead-letters at once."""
    is_unreadable = plan.dead_letter == "unreadable" and case.get("dead_letter") is None
    return case | {"dead_letter": plan.dead_letter} if is_unreadable or "trace" not in case else case


def _without_times(payload: Json) -> Json:
    metadata = {key: one for key, one in payload["message"]["metadata"].items() if not key.endswith("_at")}
    return {**payload, "message": {**payload["message"], "metadata": metadata}}


def _agree(
    spark: SparkSession, db: Connection, database: str, broker: Kafka, place: Path, trust: str, count: int
) -> None:
    topic = f"random-{uuid4().hex[:10]}"
    broker.add_topic(topic)
    credentials = Path(place / "credentials.yaml")
    file = place / "random.yaml"
    file.write_text(FILE.replace("TOPIC", topic).replace("TRUST", trust))
    entries = read_file(file)
    admin.pool_set(db, "gpu")
    register(db, entries, read_credentials(credentials))
    subscriptions.move(db, "subscriptions/random", "activate")
    found = subject(str(file))
    sent = _made(len(trust), found.spec, count)
    broker.publish(topic, [(None, body, attributes) for body, attributes in sent])  # type: ignore[misc]
    Runtime(spark, database, "subscriptions/random", once=True).run()
    came = Came(db)
    assert len(came.executed) + len(came.dead) + len(came.deduplicated) == count
    messages = [_message(f"{topic}:0:{number}", one) for number, one in enumerate(sent)]
    cases = []
    for message in messages:
        plan = _explained(found, message, place / "message.json")
        case = _settled(plan, came.expected(message["id"]))
        cases.append({"name": message["id"], "message": message, "expect": case})
        if message["id"] in came.executed and plan.payload is not None:
            ours = {key: one for key, one in plan.payload.items() if key != "currency"}
            theirs = {key: one for key, one in came.given(message["id"], found.spec).items() if key != "currency"}
            assert _without_times(ours) == _without_times(theirs)
    for first in range(0, count, 1000):
        _tests_hold(found, entries[-1].content, cases[first : first + 1000])


def _tests_hold(found: Subject, content: Json, cases: list[Json]) -> None:
    """`subscription test` over a file that expects what the pipeline has made."""
    spec = spec_of("Subscription", {**content, "tests": cases})
    assert isinstance(spec, SubscriptionSpec)
    tried = try_all(replace(found, spec=spec))
    assert len(tried) == len(cases)
    assert [(one.name, list(map(str, one.differences))) for one in tried if one.differences] == []


@pytest.fixture
def place(tmp_path: Path, kafka_broker: Kafka, database: str, credentials_file: Path) -> Path:
    """A folder for the files, with the credentials that Spark's processes find too."""
    text = json.dumps({"main": kafka_broker.credential, "penstock_database": {"url": database}})
    credentials_file.write_text(text)
    (tmp_path / "credentials.yaml").write_text(text)
    (tmp_path / "credentials.yaml").chmod(0o600)
    return tmp_path


def test_the_three_agree(spark: SparkSession, db: Connection, database: str, kafka_broker: Kafka, place: Path) -> None:
    _agree(spark, db, database, kafka_broker, place, "continue", 1000)


@pytest.mark.long
@pytest.mark.parametrize("trust", ["continue", "link", "restart"])
def test_the_three_agree_on_ten_thousand(
    trust: str, spark: SparkSession, db: Connection, database: str, kafka_broker: Kafka, place: Path
) -> None:
    _agree(spark, db, database, kafka_broker, place, trust, 10_000)
