"""A subscription in words, and a message tried on its rules: with a file alone, and with what is registered."""

import json
from pathlib import Path

import pytest

from penstock.kernel.connection import Connection
from tests.acceptance.cli.conftest import Penstock
from tests.sql.support import value

FILE = """\
apiVersion: penstock/v1
kind: Playbook
metadata: {path: shop/process_order}
workload: {currency: EUR, order: 0}
workflow:
  - step: process
    tool: {kind: noop}
---
apiVersion: penstock/v1
kind: Playbook
metadata: {path: shop/check_fraud}
workflow:
  - step: check
    pool: priority
    tool: {kind: noop}
---
apiVersion: penstock/v1
kind: Subscription
metadata: {path: subscriptions/orders}
spec:
  source: kafka
  mode: pull
  topic: orders
  group: watchers
  auth: orders_kafka
  on_data_loss: skip_and_record
  dispatch: {playbook: shop/process_order, payload_from: message.json}
  headers:
    directives:
      - {header: X-Route, controls: dispatch.playbook, allowed: [shop/check_fraud]}
      - {header: X-Urgency, controls: priority, map: {high: priority, low: shared}}
      - {header: X-Key, controls: idempotency_key}
    trace: {trust: link, baggage_allowlist: [tenant]}
  dedup: {window_s: 3600}
  limits: {max_dispatch_per_sec: 200, max_in_flight: 300}
  scaling: {keda: {trigger: kafka, min: 1, max: 2}}
"""
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    orders = tmp_path / "orders.yaml"
    orders.write_text(FILE)
    return orders


@pytest.fixture
def alone() -> Penstock:
    """Without a database: whoever asks for one fails."""
    return Penstock(PENSTOCK_DATABASE_URL="postgresql://127.0.0.1:1/nothing")


@pytest.fixture
def registered(database: str, file: Path, tmp_path: Path) -> Penstock:
    credentials = tmp_path / "credentials.yaml"
    credentials.write_text("orders_kafka: {bootstrap_servers: '127.0.0.1:1'}\n")
    credentials.chmod(0o600)
    penstock = Penstock(PENSTOCK_DATABASE_URL=database, PENSTOCK_CREDENTIALS=str(credentials))
    penstock.ok("subscription", "register", file)
    return penstock


def test_a_file_is_explained_without_a_database(alone: Penstock, file: Path) -> None:
    said = alone.ok("subscription", "explain", file)
    for sentence in [
        "Kafka: the topic orders, with the credential orders_kafka",
        "published as the consumer group watchers",
        "a batch begins every 500 ms at most",
        "the oldest message the source has",
        "the range is recorded, and it goes on",
        "the playbook shop/process_order, unless a header chooses another",
        "x-route chooses the playbook: shop/check_fraud",
        "x-urgency chooses the pool: high means priority, low means shared",
        "x-key is the key of dedup",
        "a trace of its own, with the sender's as a link",
        "of its baggage tenant is kept",
        "messages of one key within 1h are one execution",
        "at most 150 messages, half of max_in_flight",
        "at most 200 messages become executions in a second",
        "spec.scaling.keda",
    ]:
        assert sentence in said


def test_what_is_registered_is_explained_the_same(alone: Penstock, registered: Penstock, file: Path) -> None:
    ours, theirs = (
        alone.json("subscription", "explain", file),
        registered.json("subscription", "explain", "subscriptions/orders"),
    )
    assert (ours["version"], theirs["version"]) == (None, 1)
    assert ours["says"] == theirs["says"]


def test_keys_without_effect_are_shown_with_the_subscription(registered: Penstock) -> None:
    assert "not used yet" in registered.ok("subscription", "show", "subscriptions/orders")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"topic: orders": "topic_pattern: 'orders-.*'"}, "every topic whose whole name matches orders-.*"),
        ({"topic: orders": "topic: orders\n  start: latest"}, "what comes after that moment"),
        (
            {"topic: orders": "topic: orders\n  activation: scheduled\n  cadence: '*/5 * * * *'"},
            "drained by the cadence */5 * * * * (UTC)",
        ),
        (
            {
                "source: kafka": "source: nats",
                "topic: orders": "stream: ORDERS",
                "group: watchers": "consumer: penstock",
            },
            "NATS: the stream ORDERS, by its durable consumer penstock",
        ),
        (
            {
                "source: kafka": "source: shop.legacy:Outbox",
                "topic: orders": "options: {table: outbox}",
                "  group: watchers\n": "",
            },
            "your own source shop.legacy:Outbox, given table",
        ),
        ({"max_in_flight: 300": "max_in_flight: 3000"}, "a second's worth of max_dispatch_per_sec"),
    ],
)
def test_each_source_and_limit_has_its_words(
    change: dict[str, str], sentence: str, alone: Penstock, file: Path
) -> None:
    text = FILE
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)
    assert sentence in alone.ok("subscription", "explain", file)


def test_a_message_is_tried_without_a_database(alone: Penstock, file: Path) -> None:
    tried = alone.json("subscription", "test", file, "--body", '{"order": 7}', "--id", "orders:2:41")
    assert (tried["playbook"], tried["pool"]) == ("shop/process_order", "subscription")
    assert (tried["dedup_key"], tried["dead_letter"]) == ("orders:2:41", None)
    payload = tried["payload"]
    assert (payload["order"], payload["currency"], payload["source"]) == (7, "EUR", "kafka")
    assert payload["message"]["metadata"]["part"] == "orders:2"
    assert payload["message"]["metadata"]["offset"] == 41


def test_headers_choose_and_what_they_may_not_choose_is_said(alone: Penstock, file: Path) -> None:
    words = ["--header", "X-Route=shop/check_fraud", "--header", "x-urgency=HIGH", "--header", "x-key=k1"]
    tried = alone.json("subscription", "test", file, *words, "--header", f"traceparent={PARENT}", "--body", "{}")
    assert (tried["playbook"], tried["pool"], tried["dedup_key"]) == ("shop/check_fraud", "priority", "k1")
    assert [one["controls"] for one in tried["directives"]["applied"]] == ["dispatch.playbook", "idempotency_key"]
    assert tried["directives"]["ignored"] == [
        {"header": "x-urgency", "controls": "priority", "value": "HIGH", "reason": "not_allowed"}
    ]
    assert tried["directives"]["trace"]["link"] == PARENT
    said = alone.ok("subscription", "test", file, *words, "--body", "{}")
    assert "the header x-urgency said HIGH for priority: ignored, not_allowed" in said


def test_the_last_of_several_values_counts_as_it_does_in_a_batch(alone: Penstock, file: Path) -> None:
    both = ["--header", "x-urgency=high", "--header", "X-Urgency=low"]
    tried = alone.json("subscription", "test", file, *both, "--body", "{}")
    assert (tried["pool"], tried["payload"]["message"]["headers"]) == ("shared", {"x-urgency": ["high", "low"]})


def test_a_body_that_is_no_json_would_be_a_dead_letter(alone: Penstock, file: Path, tmp_path: Path) -> None:
    body = tmp_path / "body"
    body.write_bytes(b'{"order": "\\u0000"}')
    tried = alone.json("subscription", "test", file, "--body", f"@{body}")
    assert (tried["dead_letter"], tried["payload"]) == ("bad_json", None)
    assert "would be a dead letter, bad_json" in alone.ok("subscription", "test", file, "--body", f"@{body}")


def test_a_message_without_a_body_runs(alone: Penstock, file: Path) -> None:
    tried = alone.json("subscription", "test", file)
    assert (tried["dead_letter"], tried["payload"]["message"]["data"]) == (None, None)


def test_a_dry_run_of_what_is_registered_writes_nothing(registered: Penstock, db: Connection) -> None:
    before = value(db, "select count(*) from penstock.execution_event")
    tried = registered.json("subscription", "test", "subscriptions/orders", "--body", '{"order": 7}')
    assert tried["payload"]["currency"] == "EUR"
    counts = "select (select count(*) from penstock.job) + (select count(*) from penstock.ingest_dead_letter)"
    assert (value(db, counts), value(db, "select count(*) from penstock.execution_event")) == (0, before)


def test_what_cannot_be_tried_is_said_in_words(
    alone: Penstock, registered: Penstock, file: Path, tmp_path: Path
) -> None:
    assert "is no KEY=VALUE" in alone.refuses("subscription", "test", file, "--header", "x", code=2)
    assert "value for --body" in alone.refuses("subscription", "test", file, "--body", f"@{tmp_path}/none", code=2)
    assert "cannot be read" in alone.refuses("subscription", "explain", "nowhere.yaml")
    assert "is not in the catalog" in registered.refuses("subscription", "explain", "subscriptions/none")
    file.write_text(FILE + FILE[FILE.rindex("---") :].replace("/orders", "/others"))
    assert "found subscriptions/orders, subscriptions/others" in alone.refuses("subscription", "explain", file)
    file.write_text(json.dumps({"kind": "Subscription"}))
    assert "metadata" in alone.refuses("subscription", "test", file)
