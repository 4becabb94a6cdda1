"""A subscription in words, and a message tried on its rules: with a file alone, and with what is registered."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

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
POOL_RULES = """\
      - {header: X-Pool, controls: dispatch.execution_pool, allowed: [iot]}
      - {header: X-Second, controls: dispatch.execution_pool, allowed: [iot]}
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


def _message(tmp_path: Path, **message: Any) -> list[object]:
    """What tells `explain` to try this message."""
    file = tmp_path / "message.json"
    file.write_text(json.dumps(message))
    return ["--message", file]


def test_a_message_is_tried_without_a_database(alone: Penstock, file: Path, tmp_path: Path) -> None:
    words = _message(tmp_path, id="orders:2:41", data={"order": 7})
    tried = alone.json("subscription", "explain", file, *words)
    assert (tried["playbook"], tried["pool"]) == ("shop/process_order", "subscription")
    assert (tried["dedup_key"], tried["dead_letter"]) == ("orders:2:41", None)
    payload = tried["payload"]
    assert (payload["order"], payload["currency"], payload["source"]) == (7, "EUR", "kafka")
    assert payload["message"]["metadata"]["part"] == "orders:2"
    assert payload["message"]["metadata"]["offset"] == 41


def test_every_rule_says_what_it_came_to(alone: Penstock, file: Path, tmp_path: Path) -> None:
    file.write_text(FILE.replace("      - {header: X-Key", f"{POOL_RULES}      - {{header: X-Key"))
    headers = {"X-Route": "shop/check_fraud", "x-urgency": "high", "x-pool": "iot", "x-second": "secret"}
    words = _message(tmp_path, data={}, headers=headers | {"traceparent": "no", "tracestate": "a=b"})
    tried = alone.json("subscription", "explain", file, *words)
    assert [(one["header"], one["verdict"], one["value"], one["reason"]) for one in tried["rules"]] == [
        ("x-route", "applied", "shop/check_fraud", None),
        ("x-urgency", "overruled", "priority", None),
        ("x-pool", "applied", "iot", None),
        ("x-second", "ignored", "secret", "not_allowed"),
        ("x-key", "not_sent", None, None),
    ]
    assert tried["pool"] == "iot"
    said = alone.ok("subscription", "explain", file, *words)
    assert "not listed in allowed, or map" in said
    assert "the header traceparent was dropped" in said


def test_headers_choose_and_what_they_may_not_choose_is_said(alone: Penstock, file: Path, tmp_path: Path) -> None:
    headers = {"X-Route": "shop/check_fraud", "x-urgency": "HIGH", "x-key": "k1", "traceparent": PARENT}
    words = _message(tmp_path, data={}, headers=headers)
    tried = alone.json("subscription", "explain", file, *words)
    assert (tried["playbook"], tried["pool"], tried["dedup_key"]) == ("shop/check_fraud", "priority", "k1")
    assert [one["controls"] for one in tried["directives"]["applied"]] == ["dispatch.playbook", "idempotency_key"]
    assert tried["directives"]["ignored"] == [
        {"header": "x-urgency", "controls": "priority", "value": "HIGH", "reason": "not_allowed"}
    ]
    assert tried["directives"]["trace"]["link"] == PARENT
    said = alone.ok("subscription", "explain", file, *words)
    assert "the header x-urgency said HIGH for priority: ignored, not_allowed" in said


def test_the_last_of_several_values_counts_as_it_does_in_a_batch(alone: Penstock, file: Path, tmp_path: Path) -> None:
    words = _message(tmp_path, data={}, headers={"x-urgency": ["high", "low"]})
    tried = alone.json("subscription", "explain", file, *words)
    assert (tried["pool"], tried["payload"]["message"]["headers"]) == ("shared", {"x-urgency": ["high", "low"]})


@pytest.mark.parametrize(
    ("body", "reason"), [('{"order": "\\u0000"}', "bad_json"), ("{", "bad_json"), ("1" * 5000, "unreadable")]
)
def test_a_message_that_would_be_a_dead_letter_is_exit_code_one(
    body: str, reason: str, alone: Penstock, file: Path, tmp_path: Path
) -> None:
    words = _message(tmp_path, body=body)
    done = alone.run("subscription", "explain", file, *words, "--json")
    tried = json.loads(done.out)
    assert (done.code, tried["dead_letter"], tried["payload"]) == (1, reason, None)
    assert f"would be a dead letter, {reason}" in alone.run("subscription", "explain", file, *words).out


def test_a_message_without_a_body_runs(alone: Penstock, file: Path, tmp_path: Path) -> None:
    tried = alone.json("subscription", "explain", file, *_message(tmp_path))
    assert (tried["dead_letter"], tried["payload"]["message"]["data"]) == (None, None)


def test_bytes_and_headers_that_are_no_text_can_be_said(alone: Penstock, file: Path, tmp_path: Path) -> None:
    file.write_text(FILE.replace("message.json", "message.body"))
    pairs = [["X-Key", {"base64": "/w=="}], ["X-Urgency", None]]
    tried = alone.json(
        "subscription", "explain", file, *_message(tmp_path, body={"base64": "/wA="}, key="c-3", attributes=pairs)
    )
    assert [one["reason"] for one in tried["rules"]] == [None, "empty", "not_text"]
    assert tried["payload"]["message"]["data"] == {"base64": "/wA="}
    assert tried["payload"]["message"]["attributes"] == pairs
    assert tried["payload"]["message"]["metadata"]["key"] == "c-3"


def test_playbooks_beside_the_file_count(alone: Penstock, file: Path, tmp_path: Path) -> None:
    playbooks, _, subscription = FILE.rpartition("---\n")
    file.write_text(subscription)
    (tmp_path / "playbooks.yaml").write_text(playbooks)
    (tmp_path / "values.yaml").write_text("kind: Something else\n")
    (tmp_path / "broken.yaml").write_text("kind: Playbook\nmetadata: {path: shop/other}\n")
    tried = alone.json("subscription", "explain", file, *_message(tmp_path, data={}))
    assert (tried["payload"]["currency"], tried["remarks"][:-1]) == ("EUR", [])


def test_a_dry_run_of_what_is_registered_writes_nothing(registered: Penstock, db: Connection, tmp_path: Path) -> None:
    before = value(db, "select count(*) from penstock.execution_event")
    tried = registered.json("subscription", "explain", "subscriptions/orders", *_message(tmp_path, data={"order": 7}))
    assert tried["payload"]["currency"] == "EUR"
    counts = "select (select count(*) from penstock.job) + (select count(*) from penstock.ingest_dead_letter)"
    assert (value(db, counts), value(db, "select count(*) from penstock.execution_event")) == (0, before)


def test_a_dead_letter_is_tried_as_it_came(registered: Penstock, db: Connection, file: Path) -> None:
    number = value(
        db,
        "insert into penstock.ingest_dead_letter (subscription, message_id, part, source_offset, body, attributes,"
        " reason)"
        " values ('subscriptions/orders', 'orders:2:41', 'orders:2', 41, '{', '[[\"X-Urgency\",\"low\"]]', 'bad_json')"
        " returning dead_letter_id",
    )
    words = ["--from-dlq", f"ingest-{number}", "--json"]
    done = registered.run("subscription", "explain", "subscriptions/orders", *words)
    tried = json.loads(done.out)
    assert (done.code, tried["message_id"], tried["pool"]) == (1, "orders:2:41", "shared")
    # the file that would take it, before it is registered
    file.write_text(FILE.replace("message.json", "message.body"))
    tried = json.loads(registered.ok("subscription", "explain", file, *words))
    assert tried["payload"]["message"]["data"] == "{"
    assert tried["payload"]["message"]["metadata"]["offset"] == 41
    assert "does not exist" in registered.refuses("subscription", "explain", file, "--from-dlq", "ingest-999")
    file.write_text(FILE.replace("subscriptions/orders", "subscriptions/others"))
    said = registered.refuses("subscription", "explain", file, "--from-dlq", f"ingest-{number}", code=2)
    said = " ".join(said.replace("│", " ").split())
    assert "is a message of subscriptions/orders, and this is subscriptions/others" in said


def test_what_cannot_be_tried_is_said_in_words(
    alone: Penstock, registered: Penstock, file: Path, tmp_path: Path
) -> None:
    wrong = _message(tmp_path, payload={}, body="a", data=1, headers={"x": 1})
    said = alone.refuses("subscription", "explain", file, *wrong)
    for words in ["payload: is no key here", "body: stands beside data", "headers: expected text"]:
        assert words in said
    nowhere = alone.refuses("subscription", "explain", file, "--message", tmp_path / "none", code=2)
    assert "value for --message" in nowhere
    assert "value for --message" in alone.refuses("subscription", "explain", file, "--message", file, code=2)
    both = alone.refuses("subscription", "explain", file, *wrong, "--captured", "1", code=2)
    assert "give one of" in both
    assert "cannot be read" in alone.refuses("subscription", "explain", "nowhere.yaml")
    assert "is not in the catalog" in registered.refuses("subscription", "explain", "subscriptions/none")
    file.write_text(FILE + FILE[FILE.rindex("---") :].replace("/orders", "/others"))
    assert "found subscriptions/orders, subscriptions/others" in alone.refuses("subscription", "explain", file)
    file.write_text(json.dumps({"kind": "Subscription"}))
    assert "metadata" in alone.refuses("subscription", "test", file)


TESTS = """\
tests:
  - name: an order runs
    message: {data: {order: 7}, headers: {x-urgency: HIGH}}
    expect:
      playbook: shop/process_order
      ignored: [{header: x-urgency, controls: priority, reason: not_allowed}]
      payload: {order: 7, message: {metadata: {part: "orders:0"}}}
  - name: no JSON, no execution
    message: {body: "{"}
    expect: {dead_letter: bad_json}
"""


def test_the_tests_of_a_file_are_run_without_broker_and_database(alone: Penstock, file: Path) -> None:
    file.write_text(FILE + TESTS)
    said = alone.ok("subscription", "test", file)
    assert "an order runs" in said
    assert "2 of 2 are as expected" in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("playbook: shop/process_order\n      ign", "playbook: shop/check_fraud\n      ign", "playbook: expected "),
        ("{order: 7, message", "{order: true, message", "payload.order: expected true, came 7"),
        ("{order: 7, message", "{total: 7, message", "payload.total: expected 7, came nothing"),
        ("reason: not_allowed", "reason: empty", 'ignored[0].reason: expected "empty", came "not_allowed"'),
        ("HIGH", "high", "ignored: expected "),
        ("{dead_letter: bad_json}", "{pool: subscription}", 'dead_letter: expected nothing, came "bad_json"'),
        ('{body: "{"}', '{body: "{}"}', 'dead_letter: expected "bad_json", came nothing'),
    ],
)
def test_what_differs_is_said_with_what_was_expected(
    old: str, new: str, said: str, alone: Penstock, file: Path
) -> None:
    assert old in TESTS
    file.write_text(FILE + TESTS.replace(old, new))
    done = alone.run("subscription", "test", file)
    assert (done.code, "1 of 2 are as expected" in done.out) == (1, True)
    assert said in done.out


def test_tests_of_what_is_registered_are_run_too(registered: Penstock, file: Path) -> None:
    file.write_text(FILE + TESTS)
    registered.ok("subscription", "register", file)
    tried = registered.json("subscription", "test", "subscriptions/orders")
    assert [(one["name"], one["differences"]) for one in tried] == [
        ("an order runs", []),
        ("no JSON, no execution", []),
    ]


def test_a_file_without_tests_is_no_success(alone: Penstock, file: Path) -> None:
    assert "has no tests" in alone.refuses("subscription", "test", file)


def test_tests_that_cannot_be_right_are_refused_with_the_file(alone: Penstock, file: Path) -> None:
    file.write_text(
        FILE + TESTS.replace("shop/process_order", "shop/nobody").replace("no JSON, no execution", "an order runs")
    )
    said = alone.refuses("validate", file)
    assert "expects shop/nobody, which this subscription may not start" in said
    assert "'an order runs' is the name of another test too" in said


def test_nothing_of_spark_or_a_source_is_imported_for_a_dry_run(file: Path, tmp_path: Path) -> None:
    """Which is what keeps it within a second."""
    script = (
        "import sys; from penstock.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([name for name in ('pyspark', 'pyarrow', 'confluent_kafka', 'nats', 'google') if name in sys.modules])"
    )
    words = ["subscription", "explain", str(file), *map(str, _message(tmp_path, data={})), "--json"]
    done = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
