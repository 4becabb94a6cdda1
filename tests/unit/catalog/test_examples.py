"""The examples of the subscription document load as they stand."""

from datetime import UTC, datetime

import pytest

from penstock.catalog.entry import Entry
from penstock.catalog.headers import Directive, Trace
from penstock.catalog.source import KafkaOptions, NatsOptions, OwnOptions, PubsubOptions, Start
from penstock.catalog.spool import Circuit, Drain, Retention
from penstock.catalog.subscription import SubscriptionSpec
from tests.unit.catalog.files import EXAMPLES, GONE, changed, entry, example


def _spec(text: str) -> SubscriptionSpec:
    spec = entry(text).spec
    assert isinstance(spec, SubscriptionSpec)
    return spec


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_each_example_loads_unchanged(name: str) -> None:
    found: Entry = entry(EXAMPLES[name])
    assert (found.kind, found.path, found.name) == ("Subscription", f"subscriptions/{name}", name)
    assert found.source == EXAMPLES[name]


def test_there_are_six_of_them() -> None:
    assert len(EXAMPLES) == 6


@pytest.mark.parametrize("version", ["penstock/v1", "noetl.io/v1", "noetl.io/v2"])
def test_the_three_versions_are_read_as_the_same_thing(version: str) -> None:
    found = entry(changed(example("events"), {"apiVersion": version}))
    assert found.spec == entry(EXAMPLES["events"]).spec


def test_a_continuous_pull_with_directives_and_a_spool() -> None:
    spec = _spec(EXAMPLES["iot-sensor-stream"])
    assert (spec.source, spec.mode, spec.activation, spec.auth) == ("pubsub", "pull", "continuous", "pubsub_iot")
    assert spec.options == PubsubOptions("projects/acme/subscriptions/sensors")
    assert spec.headers.directives == (
        Directive("x-noetl-pool", "dispatch.execution_pool", ("iot", "priority")),
        Directive("x-idempotency-key", "idempotency_key"),
    )
    assert spec.headers.trace == Trace("w3c", ("tenant",), "continue")
    assert (spec.runtime.batch, spec.max_in_flight()) == (500, 1000)
    assert spec.spool is not None
    assert (spec.spool.mode, spec.spool.ordering, spec.spool.ordering_key) == ("hybrid", "per_key", "device_id")
    assert spec.spool.circuit == Circuit(5, 30_000)
    assert spec.spool.retention == Retention(72, 50 * 1024**3, "stop_acking")
    assert spec.spool.drain == Drain("ordered_then_live", 200, 10)


def test_a_scheduled_drain() -> None:
    spec = _spec(EXAMPLES["orders-drain"])
    assert (spec.activation, spec.cadence) == ("scheduled", "*/1 * * * *")
    assert spec.options == NatsOptions("ORDERS", "orders-drain")
    assert (spec.runtime.batch, spec.runtime.timeout_ms, spec.runtime.trigger_ms) == (50, 3000, 500)
    assert (spec.dispatch.playbook, spec.dispatch.execution_pool) == ("domain/process_order", "subscription")
    assert (spec.spool, spec.ingress, spec.start, spec.on_data_loss) == (None, None, Start("earliest"), "fail")


def test_a_push_with_a_signature() -> None:
    spec = _spec(EXAMPLES["stripe-webhook"])
    assert (spec.source, spec.mode, spec.activation, spec.options) == ("webhook", "push", None, None)
    assert spec.ingress is not None
    assert spec.ingress.gateway_path == "/ingress/stripe"
    verify = spec.ingress.verify
    assert (verify.type, verify.header, verify.secret) == ("hmac_sha256", "stripe-signature", "stripe_webhook_secret")


@pytest.mark.parametrize(
    ("name", "playbooks", "pools", "credentials"),
    [
        ("events", ["domain/handle_billing", "domain/handle_event", "domain/handle_fraud"], ["priority", "shared"], []),
        ("iot-sensor-stream", ["domain/ingest_sensor_reading"], ["iot", "priority"], ["gcs_spool", "pubsub_iot"]),
        ("stripe-webhook", ["domain/handle_stripe_event"], ["subscription"], ["gcs_spool", "stripe_webhook_secret"]),
        ("edge-clickstream", ["domain/ingest_click"], ["shared"], ["gcs_spool", "kafka_edge"]),
    ],
)
def test_a_subscription_says_what_it_may_start_and_use(
    name: str, playbooks: list[str], pools: list[str], credentials: list[str]
) -> None:
    spec = _spec(EXAMPLES[name])
    assert (list(spec.playbooks()), list(spec.pools()), list(spec.credentials())) == (playbooks, pools, credentials)


def test_a_priority_brings_the_pools_of_its_map() -> None:
    rule = {"header": "X-Priority", "controls": "priority", "map": {"high": "priority", "normal": "shared"}}
    spec = _spec(changed(example("orders-drain"), {"spec/headers/directives": [rule]}))
    assert spec.pools() == ("priority", "shared", "subscription")
    assert spec.headers.directives[0].header == "x-priority"


@pytest.mark.parametrize(
    ("name", "unused"),
    [
        ("iot-sensor-stream", ["spec.runtime.target", "spec.runtime.pool", "spec.scaling.keda"]),
        (
            "edge-clickstream",
            [
                "spec.runtime.target",
                "spec.runtime.server_url",
                "spec.runtime.concurrency",
                "spec.runtime.max_instances",
            ],
        ),
        ("orders-drain", ["spec.runtime.target", "spec.runtime.pool"]),
        ("events", []),
    ],
)
def test_keys_without_effect_yet_are_listed(name: str, unused: list[str]) -> None:
    assert list(entry(EXAMPLES[name]).unused) == unused


def test_batches_are_asked_for_in_either_way_and_have_no_effect_yet() -> None:
    flat = entry(
        changed(example("orders-drain"), {"spec/dispatch/batch_dispatch": True, "spec/dispatch/batch_max": 50})
    )
    block = entry(changed(example("orders-drain"), {"spec/batch_dispatch": {"enabled": True, "max": 50}}))
    assert flat.spec == block.spec
    assert set(flat.unused) - set(block.unused) == {"spec.dispatch.batch_dispatch", "spec.dispatch.batch_max"}
    assert set(block.unused) - set(flat.unused) == {"spec.batch_dispatch"}


def test_dedup_is_off_by_default_and_on_when_its_block_does_not_say_otherwise() -> None:
    drain = example("orders-drain")
    assert _spec(changed(drain, {})).dedup.enabled is False
    asked = _spec(changed(drain, {"spec/dedup": {"window_s": 300}})).dedup
    assert (asked.enabled, asked.window_s) == (True, 300)
    assert _spec(changed(drain, {"spec/dedup": {"enabled": False}})).dedup.enabled is False


def test_the_tighter_of_two_bounds_on_what_is_in_flight_counts() -> None:
    both = {"spec/limits": {"max_in_flight": 70, "max_dispatch_per_sec": 5}, "spec/runtime/max_in_flight": 900}
    spec = _spec(changed(example("orders-drain"), both))
    assert (spec.max_in_flight(), spec.limits.max_dispatch_per_sec) == (70, 5)


def test_kafka_takes_topics_in_three_ways() -> None:
    clicks = example("edge-clickstream")
    assert _spec(EXAMPLES["edge-clickstream"]).options == KafkaOptions(("edge.clicks",), None, "noetl-edge")
    several = {"spec/topic": GONE, "spec/topics": ["a", "b"], "spec/group": GONE}
    assert _spec(changed(clicks, several)).options == KafkaOptions(("a", "b"), None, None)
    pattern = {"spec/topic": GONE, "spec/topic_pattern": "edge\\..*"}
    assert _spec(changed(clicks, pattern)).options == KafkaOptions((), "edge\\..*", "noetl-edge")


@pytest.mark.parametrize(
    ("written", "start"),
    [
        ("earliest", Start("earliest")),
        ("latest", Start("latest")),
        ("ledger", Start("ledger")),
        ({"timestamp": "2026-06-11T08:00:00Z"}, Start("timestamp", datetime(2026, 6, 11, 8, tzinfo=UTC))),
    ],
)
def test_where_kafka_begins(written: object, start: Start) -> None:
    assert _spec(changed(example("edge-clickstream"), {"spec/start": written})).start == start


def test_a_source_of_ones_own_has_its_options_and_needs_no_credential() -> None:
    own = {"spec/source": "shop.feeds:Feed", "spec/options": {"url": "x", "every": 5}, "spec/auth": GONE}
    gone = {f"spec/{key}": GONE for key in ("stream", "consumer")}
    spec = _spec(changed(example("orders-drain"), own | gone))
    assert (spec.source, spec.options, spec.auth) == ("shop.feeds:Feed", OwnOptions({"url": "x", "every": 5}), None)
