"""Sources that are away, missing, closed to us or changed, and records nobody would publish: each has its name."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from penstock.catalog.entry import spec_of
from penstock.catalog.subscription import SubscriptionSpec
from penstock.errors import DataLoss, SourceError, SourceMissing, SourceRefused, SourceUnavailable, SourceUnfit
from penstock.kernel import catalog, executions, subscriptions
from penstock.kernel.connection import Connection
from penstock.worker.envelope import envelope
from tests.concurrency.sessions import wait_until
from tests.ingest.support import PATH, PLAYBOOK
from tests.pipeline import places, subscribing
from tests.pipeline.holding import Holding, run_once, staged
from tests.pipeline.odd import ODD, ODD_RECORDS, Odd
from tests.pipeline.older import as_of_an_older_copy
from tests.pipeline.places import Place, Stream, Topic
from tests.pipeline.subscribing import Subscribe
from tests.sources.conformance import WRONG_PASSWORD
from tests.sql.support import rows, value

subscribe = subscribing.subscribe
place, stream, topic = places.place, places.stream, places.topic

STRICT: dict[str, Any] = {
    "dispatch": {"playbook": PLAYBOOK, "payload_from": "message.json"},
    "headers": {
        "directives": [
            {"header": "X-Route", "controls": "dispatch.playbook", "allowed": ["domain/fraud"]},
            {"header": "X-Key", "controls": "idempotency_key"},
        ],
        "trace": {"propagate": "w3c"},
    },
    "dedup": {"window_s": 3600},
}
_PATIENCE_S = 120
_TRIGGER_S = 8

Case = tuple[dict[str, Any], dict[str, Any]]


def _became(db: Connection, sent: tuple[Odd, ...], offsets: Iterator[int]) -> None:
    """Every record is one execution whose envelope a worker can make, or one dead letter with its bytes."""
    spec = spec_of("Subscription", catalog.entry(db, PATH, 1, "Subscription").content)
    assert isinstance(spec, SubscriptionSpec)
    ids = dict(rows(db, "select source_offset, execution_id from penstock.ingest_message"))
    dead = {at: rest for at, *rest in rows(db, "select source_offset, body, reason from penstock.ingest_dead_letter")}
    for offset, one in zip(offsets, sent, strict=False):
        if one.dead:
            assert (dead.get(offset), offset in ids) == ([one.body, one.dead], False), one.name
            continue
        message = executions.message(db, ids[offset])
        assert message is not None, one.name
        assert (message.body == one.body, message.attributes) == (True, one.stored), one.name
        assert envelope(message, spec)["message"]["attributes"] == one.stored, one.name
    assert len(ids) + len(dead) == len(sent)


def test_every_odd_record_of_kafka_is_an_execution_or_a_dead_letter(
    spark: SparkSession, db: Connection, database: str, topic: Topic, subscribe: Subscribe
) -> None:
    subscribe(topic.credential, **topic.spec, **STRICT)
    # Spark's own producer: the other one ends a header's key at U+0000
    columns = "n int, value binary, headers array<struct<key: string, value: binary>>"
    sent = [(number, one.body, list(one.headers)) for number, one in enumerate(ODD_RECORDS)]
    records = spark.createDataFrame(sent, columns).coalesce(1).sortWithinPartitions("n").drop("n")
    servers = topic.broker.credential["bootstrap_servers"]
    writer = records.select(F.lit(None).cast("binary").alias("key"), "value", "headers").write.format("kafka")
    writer = writer.option("kafka.bootstrap.servers", servers).option("kafka.max.request.size", str(16 * 2**20))
    writer.option("topic", topic.name).option("includeHeaders", "true").save()
    run_once(spark, database)
    _became(db, ODD_RECORDS, iter(range(len(ODD_RECORDS))))


def test_every_odd_message_of_nats_is_an_execution_or_a_dead_letter(
    spark: SparkSession, db: Connection, database: str, stream: Stream, subscribe: Subscribe
) -> None:
    subscribe(stream.credential, **stream.spec, **STRICT)
    sent = [(one.body or b"", [(key, text or b"") for key, text in one.headers]) for one in ODD]
    stream.server.publish(f"{stream.name}.odd", sent)
    run_once(spark, database)
    _became(db, ODD, iter(range(1, len(ODD) + 1)))
    ignored = "select directives #>> '{ignored,0,reason}' from penstock.ingest_message where directives is not null"
    assert {reason for (reason,) in rows(db, ignored)} == {None, "not_text", "not_allowed"}


def _wrong(credential: dict[str, Any], spec: dict[str, Any], **changes: Any) -> Case:
    return credential, spec | changes


CASES: dict[str, tuple[type[SourceError], str, Callable[[Topic, Stream], Case]]] = {
    "kafka is down": (
        SourceUnavailable,
        "Kafka at 127.0.0.1:1 does not answer",
        lambda topic, _: ({"bootstrap_servers": "127.0.0.1:1"}, topic.spec),
    ),
    "nats is down": (
        SourceUnavailable,
        r"NATS at nats://127\.0\.0\.1:1 does not answer",
        lambda _, stream: (stream.credential | {"servers": "nats://127.0.0.1:1"}, stream.spec),
    ),
    "no such topic": (
        SourceMissing,
        "has no topic nowhere. Create it",
        lambda topic, _: _wrong(topic.credential, topic.spec, topic="nowhere"),
    ),
    "no such stream": (
        SourceMissing,
        "There is no stream NOWHERE .* nats stream add",
        lambda _, stream: _wrong(stream.credential, stream.spec, stream="NOWHERE"),
    ),
    "no such consumer": (
        SourceMissing,
        "has no durable consumer nobody. Run: nats consumer add",
        lambda _, stream: _wrong(stream.credential, stream.spec, consumer="nobody"),
    ),
    "ack_wait too short": (
        SourceUnfit,
        "waits 5 s .* may take 30 s. Run: nats consumer edit .* --wait=30s",
        lambda _, stream: _wrong(stream.credential, stream.spec, consumer="hasty"),
    ),
    "kafka's login is wrong": (
        SourceRefused,
        "refused the credential",
        lambda topic, _: (topic.broker.secure_credential(password=WRONG_PASSWORD), topic.spec),
    ),
    "nats's login is wrong": (
        SourceRefused,
        "refused the credential",
        lambda _, stream: (stream.credential | {"password": WRONG_PASSWORD}, stream.spec),
    ),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_drain_of_a_source_that_cannot_be_used_ends_with_its_name_and_what_to_do(
    spark: SparkSession, db: Connection, database: str, topic: Topic, stream: Stream, subscribe: Subscribe, case: str
) -> None:
    error, said, case_of = CASES[case]
    stream.server.add_consumer(stream.name, "hasty", ack_wait=5)
    credential, spec = case_of(topic, stream)
    subscribe(credential, **spec)
    with pytest.raises(error, match=said) as refused:
        run_once(spark, database)
    assert WRONG_PASSWORD not in str(refused.value)
    assert (subscriptions.show(db, PATH).state, subscriptions.show(db, PATH).is_running) == ("ACTIVE", False)


def test_a_source_that_falls_away_is_said_once_each_time_and_read_on_when_it_is_back(
    spark: SparkSession, db: Connection, database: str, place: Place, subscribe: Subscribe
) -> None:
    subscribe(place.credential, **place.spec, runtime={"trigger_ms": 200})
    place.publish([b"before"])
    with ExitStack() as stack:
        with _away(place):
            held = stack.enter_context(Holding(spark, database))
            _until_happened(db, "source_unavailable", 1)
        wait_until(lambda: _executions(db) == 1, "what was there is read", _PATIENCE_S)
        assert _happened(db, "source_recovered") == 1
        with _away(place):
            _until_happened(db, "source_unavailable", 2)
        place.publish([b"after"])
        wait_until(lambda: _executions(db) == 2, "what came later is read", _PATIENCE_S)
        assert held.is_running
    assert (_happened(db, "source_unavailable"), _happened(db, "source_recovered")) == (2, 2)


@contextmanager
def _away(place: Place) -> Iterator[None]:
    place.stop()
    try:
        yield
    finally:
        place.start()


def _made_again(place: Place) -> None:
    place.remove()
    place.make()
    place.publish([b"new %d" % number for number in range(8)])


def _trimmed(place: Place) -> None:
    place.publish([b"new %d" % number for number in range(8)])
    place.keep(2)


@pytest.mark.parametrize(("change", "reason"), [(_made_again, "made_again"), (_trimmed, "removed_by_retention")])
def test_a_change_while_it_runs_ends_the_runtime_with_its_name(
    spark: SparkSession,
    db: Connection,
    database: str,
    place: Place,
    subscribe: Subscribe,
    change: Callable[[Place], None],
    reason: str,
) -> None:
    # so seldom a look that the change is whole by then, and the offsets have passed the ledger's
    subscribe(place.credential, **place.spec, runtime={"trigger_ms": 1000 * _TRIGGER_S})
    place.publish([b"old %d" % number for number in range(5)])
    with Holding(spark, database) as held:
        # acknowledged, too: staging is emptied after that
        wait_until(lambda: _executions(db) == 5 and staged(db) == 0, "the first are read", _PATIENCE_S)
        # Spark looks at multiples of its interval: one has been, and the next is far
        wait_until(lambda: 1 < time.time() % _TRIGGER_S < 3, "a moment between two looks", 2 * _TRIGGER_S)
        change(place)
        wait_until(lambda: not held.is_running, "the runtime ends", _PATIENCE_S)
        assert isinstance(held.error, DataLoss), held.error
        assert f"{place.part} from " in str(held.error)
        assert reason in str(held.error)
    assert (_executions(db), _happened(db, "data_loss_refused")) == (5, 1)


def test_messages_removed_before_they_were_read_are_named_and_the_rest_is_read_if_told_to(
    spark: SparkSession, db: Connection, database: str, place: Place, subscribe: Subscribe
) -> None:
    subscribe(place.credential, **place.spec)
    place.publish([b"old %d" % number for number in range(5)])
    run_once(spark, database)
    _trimmed(place)
    with pytest.raises(DataLoss, match=r"from (5 to before 11|6 to before 12) \(removed_by_retention\)"):
        run_once(spark, database)
    subscribe(place.credential, **place.spec, on_data_loss="skip_and_record")
    run_once(spark, database)
    assert (_executions(db), _happened(db, "data_loss")) == (7, 1)


def test_a_stream_that_was_made_again_is_read_from_its_beginning_only_if_told_to(
    spark: SparkSession, db: Connection, database: str, stream: Stream, subscribe: Subscribe
) -> None:
    subscribe(stream.credential, **stream.spec)
    stream.publish([b"old"] * 5)
    run_once(spark, database)
    _made_again(stream)
    with pytest.raises(DataLoss, match="made_again"):
        run_once(spark, database)
    subscribe(stream.credential, **stream.spec, on_data_loss="skip_and_record")
    run_once(spark, database)
    assert (_executions(db), _happened(db, "data_loss")) == (13, 1)


def test_kafka_is_read_again_from_the_ledger_of_a_restored_database(
    spark: SparkSession, db: Connection, database: str, topic: Topic, subscribe: Subscribe
) -> None:
    subscribe(topic.credential, **topic.spec)
    topic.publish([b"%d" % number for number in range(10)])
    run_once(spark, database)
    as_of_an_older_copy(db, 3)
    run_once(spark, database)
    assert (_executions(db), value(db, "select count(distinct source_ref) from penstock.job")) == (10, 10)


def _executions(db: Connection) -> int:
    return int(value(db, "select count(*) from penstock.job"))


def _happened(db: Connection, happening: str) -> int:
    asked = "select count(*) from penstock.v_subscription_event where happening = 'subscription.' || %s"
    return int(value(db, asked, happening))


def _until_happened(db: Connection, happening: str, times: int) -> None:
    wait_until(lambda: _happened(db, happening) >= times, f"{happening}, {times} times", _PATIENCE_S)
