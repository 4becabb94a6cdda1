"""Every rule of a subscription has an error of its own."""

from typing import Any

import pytest

from tests.unit.catalog.files import EXAMPLES, GONE, changed, example, only_problem, problems

RULES: list[tuple[str, dict[str, Any], str]] = [
    # what it is
    (
        "orders-drain",
        {"spec/source": "rabbit"},
        "spec.source: expected pubsub, nats, kafka, webhook, or your own source as",
    ),
    ("orders-drain", {"spec/source": GONE}, "spec.source: is missing"),
    ("orders-drain", {"spec/mode": "poll"}, "spec.mode: expected pull or push, found 'poll'"),
    ("orders-drain", {"spec/mode": GONE}, "spec.mode: is missing"),
    ("stripe-webhook", {"spec/mode": "pull"}, "spec.mode: a webhook comes by itself: use mode: push"),
    ("edge-clickstream", {"spec/mode": "push"}, "spec.mode: Kafka does not push: use mode: pull"),
    ("orders-drain", {"spec/mode": "push"}, "spec.mode: NATS is read by pulling: use mode: pull"),
    ("stripe-webhook", {"spec/source": "shop.feeds:Feed"}, "spec.mode: a source of your own is pulled"),
    ("orders-drain", {"spec": [1]}, "spec: expected a mapping, found a list"),
    ("orders-drain", {"spec": GONE}, "spec: is missing"),
    ("orders-drain", {"spec/spol": {"mode": "off"}}, "spec.spol: is no key here: did you mean spool?"),
    (
        "orders-drain",
        {"spec/ack": "after_completion"},
        "spec.ack: a message is acknowledged when its execution is committed",
    ),
    (
        "orders-drain",
        {"spec/runtime/ack": "x"},
        "acknowledging after the execution has ended comes with a later release",
    ),
    # when it runs
    ("orders-drain", {"spec/activation": "sometimes"}, "spec.activation: expected continuous or scheduled"),
    ("orders-drain", {"spec/cadence": GONE}, "spec.cadence: is missing: activation: scheduled needs a cron line"),
    ("orders-drain", {"spec/cadence": "hourly"}, "spec.cadence: expected a cron line"),
    (
        "orders-drain",
        {"spec/activation": GONE},
        "spec.cadence: is read with activation: scheduled only; this one is continuous",
    ),
    ("events", {"spec/activation": "continuous"}, "spec.activation: is read with mode: pull only"),
    ("events", {"spec/cadence": "* * * * *"}, "spec.cadence: is read with mode: pull only"),
    ("events", {"spec/start": "latest"}, "spec.start: is read with mode: pull only"),
    ("events", {"spec/on_data_loss": "fail"}, "spec.on_data_loss: is read with mode: pull only"),
    # where it reads
    (
        "orders-drain",
        {"spec/auth": GONE},
        "spec.auth: is missing: nats needs the alias of a credential; there is no default one",
    ),
    ("orders-drain", {"spec/auth": "pass word"}, "spec.auth: expected the alias of a credential"),
    ("events", {"spec/auth": "x"}, "spec.auth: a push subscription opens no connection"),
    ("orders-drain", {"spec/stream": GONE}, "spec.stream: is missing"),
    ("orders-drain", {"spec/stream": "OR.DERS"}, "spec.stream: expected the name of a NATS stream"),
    ("orders-drain", {"spec/consumer": GONE}, "spec.consumer: is missing"),
    ("orders-drain", {"spec/lanes": "ordering_key"}, "spec.lanes: belongs to source: pubsub, and this one is nats"),
    ("orders-drain", {"spec/ack_deadline_s": 60}, "spec.ack_deadline_s: belongs to source: pubsub"),
    (
        "events",
        {"spec/ack_deadline_s": 60},
        "spec.ack_deadline_s: is read with mode: pull only; a push subscription is reached at ingress.gateway_path",
    ),
    ("iot-sensor-stream", {"spec/subscription": GONE}, "spec.subscription: is missing"),
    ("iot-sensor-stream", {"spec/subscription": "orders"}, "expected a Pub/Sub subscription: projects/PROJECT/subscri"),
    ("iot-sensor-stream", {"spec/ack_deadline_s": 29}, "spec.ack_deadline_s: expected"),
    ("iot-sensor-stream", {"spec/ack_deadline_s": 601}, "spec.ack_deadline_s: expected"),
    ("iot-sensor-stream", {"spec/lanes": "device"}, "spec.lanes: expected ordering_key, found 'device'"),
    ("iot-sensor-stream", {"spec/start": "latest"}, "spec.start: Pub/Sub keeps the position itself"),
    (
        "iot-sensor-stream",
        {"spec/mode": "pull", "spec/activation": "continuous", "spec/runtime": {"trigger_ms": 60_001}},
        "spec.runtime.trigger_ms: is 60001, more than half of ack_deadline_s, which is 120: a message that is found",
    ),
    ("iot-sensor-stream", {"spec/stream": "S"}, "spec.stream: belongs to source: nats, and this one is pubsub"),
    ("orders-drain", {"spec/topic": "t"}, "spec.topic: belongs to source: kafka, and this one is nats"),
    ("orders-drain", {"spec/options": {"a": 1}}, "spec.options: options are for a source of your own"),
    (
        "orders-drain",
        {"spec/start": "latest"},
        "spec.start: a durable NATS consumer begins where its deliver policy says",
    ),
    ("edge-clickstream", {"spec/topic": GONE}, "spec.topic: is missing: kafka needs topic, topics or topic_pattern"),
    ("edge-clickstream", {"spec/topic": "edge clicks"}, "spec.topic: expected a Kafka topic"),
    (
        "edge-clickstream",
        {"spec/topics": ["a"]},
        "spec.topics: topic is there already: use one of topic, topics and topic_pattern",
    ),
    ("edge-clickstream", {"spec/topic": GONE, "spec/topics": []}, "spec.topics: expected a list of 1 to 1,000 items"),
    (
        "edge-clickstream",
        {"spec/topic": GONE, "spec/topic_pattern": "(("},
        "spec.topic_pattern: expected a regular expression",
    ),
    ("edge-clickstream", {"spec/stream": "S"}, "spec.stream: belongs to source: nats, and this one is kafka"),
    ("edge-clickstream", {"spec/start": "newest"}, "spec.start: expected earliest, latest, ledger or {timestamp:"),
    ("edge-clickstream", {"spec/start": {"timestamp": "today"}}, "spec.start.timestamp: expected a time such as"),
    (
        "edge-clickstream",
        {"spec/start": {"offset": 5, "timestamp": "2026-06-11T08:00:00Z"}},
        "spec.start.offset: is no key here",
    ),
    ("edge-clickstream", {"spec/on_data_loss": "ignore"}, "spec.on_data_loss: expected fail or skip_and_record"),
    (
        "iot-sensor-stream",
        {"spec/subscription": "sensors"},
        "spec.subscription: expected a Pub/Sub subscription: projects/",
    ),
    ("iot-sensor-stream", {"spec/start": "latest"}, "spec.start: Pub/Sub keeps the position itself"),
    (
        "events",
        {"spec/subscription": "projects/a/subscriptions/abc"},
        "spec.subscription: is read with mode: pull only",
    ),
    # what it starts
    ("orders-drain", {"spec/dispatch": GONE}, "spec.dispatch: is missing"),
    ("orders-drain", {"spec/dispatch/playbook": GONE}, "spec.dispatch.playbook: is missing"),
    (
        "orders-drain",
        {"spec/dispatch/playbook": "a b"},
        "spec.dispatch.playbook: expected a path such as domain/process_order",
    ),
    (
        "orders-drain",
        {"spec/dispatch/payload_from": "body"},
        "spec.dispatch.payload_from: expected message.json, message.body or",
    ),
    ("orders-drain", {"spec/dispatch/execution_pool": "A"}, "spec.dispatch.execution_pool: expected a pool's name"),
    (
        "orders-drain",
        {"spec/dispatch/batch_max": 1001},
        "spec.dispatch.batch_max: expected a whole number from 1 to 1,000, found 1001",
    ),
    (
        "orders-drain",
        {"spec/batch_dispatch": {"max": 0}},
        "spec.batch_dispatch.max: expected a whole number from 1 to 1,000, found 0",
    ),
    (
        "orders-drain",
        {"spec/batch_dispatch": {"max": 9}, "spec/dispatch/batch_max": 9},
        "spec.batch_dispatch: stands in dispatch too",
    ),
    # how it runs
    (
        "orders-drain",
        {"spec/runtime/target": "mars"},
        "spec.runtime.target: expected dedicated-pool, cloud-run or local",
    ),
    (
        "orders-drain",
        {"spec/runtime/batch": 0},
        "spec.runtime.batch: expected a whole number from 1 to 1,000,000, found 0",
    ),
    (
        "orders-drain",
        {"spec/runtime/timeout_ms": "3s"},
        "spec.runtime.timeout_ms: expected a whole number of milliseconds",
    ),
    (
        "orders-drain",
        {"spec/runtime/trigger_ms": -1},
        "spec.runtime.trigger_ms: expected a whole number of milliseconds",
    ),
    ("orders-drain", {"spec/runtime/server_url": "api"}, "spec.runtime.server_url: expected a URL such as"),
    ("orders-drain", {"spec/limits": {"max_in_flight": 0}}, "spec.limits.max_in_flight: expected a whole number"),
    (
        "orders-drain",
        {"spec/limits": {"rate": 1}},
        "spec.limits.rate: is no key here; the keys here are max_dispatch_per_sec, max_in_",
    ),
    ("orders-drain", {"spec/dedup": {"enabled": "yes"}}, "spec.dedup.enabled: expected true or false, found 'yes'"),
    ("orders-drain", {"spec/dedup": {"window_s": "5m"}}, "spec.dedup.window_s: expected a whole number of seconds"),
    ("orders-drain", {"spec/dedup": None}, "spec.dedup: expected a mapping, found nothing"),
    ("iot-sensor-stream", {"spec/scaling/keda/min": 21}, "spec.scaling.keda.min: is 21, more than max, which is 20"),
    ("iot-sensor-stream", {"spec/scaling/hpa": {}}, "spec.scaling.hpa: is no key here"),
]


@pytest.mark.parametrize(("name", "changes", "words"), RULES)
def test_a_broken_rule_is_one_error_with_its_path_and_what_was_expected(
    name: str, changes: dict[str, Any], words: str
) -> None:
    assert words in only_problem(changed(example(name), changes))


def test_an_ingress_block_belongs_to_push() -> None:
    assert "spec.ingress: is read with mode: push only" in only_problem(
        changed(example("orders-drain"), {"spec/ingress": {"gateway_path": "/x"}})
    )


def test_the_line_is_that_of_the_key() -> None:
    text = EXAMPLES["billing-events"].replace("payload_from: message.json", "payload_from: message.text")
    assert only_problem(text).startswith("15: spec.dispatch.payload_from: expected message.json, message.body or")


def test_all_problems_of_all_documents_are_told_at_once() -> None:
    first = EXAMPLES["events"].replace("mode: push", "mode: shove")
    second = EXAMPLES["orders-drain"].replace("stream:", "steam:").replace("batch: 50", "batch: fifty")
    assert [line.split(": expected")[0] for line in problems(f"{first}---\n{second}")] == [
        "6: spec.mode",
        "33: spec.steam: is no key here: did you mean stream?",
        "35: spec.runtime.batch",
    ]
