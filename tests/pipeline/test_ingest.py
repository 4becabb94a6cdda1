"""From a real source through Spark to committed executions."""

from collections.abc import Iterator
from threading import Thread
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from penstock.kernel import runtimes, subscriptions
from penstock.kernel.connection import Connection
from penstock.pipeline.runtime import Runtime
from tests.concurrency.sessions import wait_until
from tests.ingest.support import PATH, PLAYBOOK
from tests.parts.kafka import Kafka
from tests.parts.nats import Nats
from tests.pipeline import subscribing
from tests.pipeline.subscribing import Subscribe
from tests.sql.support import rows, value

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
DIRECTIVES = [
    {"header": "X-Route", "controls": "dispatch.playbook", "allowed": ["domain/fraud"]},
    {"header": "X-Pool", "controls": "dispatch.execution_pool", "allowed": ["priority"]},
    {"header": "X-Key", "controls": "idempotency_key"},
]

subscribe = subscribing.subscribe


@pytest.fixture
def stream(nats_server: Nats) -> Iterator[str]:
    name = f"S{uuid4().hex[:8]}"
    nats_server.add_stream(name)
    nats_server.add_consumer(name, "penstock")
    yield name
    nats_server.delete_stream(name)


@pytest.fixture
def topic(kafka_broker: Kafka) -> Iterator[str]:
    name = f"t-{uuid4().hex[:8]}"
    kafka_broker.add_topic(name, 2)
    yield name
    kafka_broker.delete_topic(name)


def _once(spark: SparkSession, database: str) -> str:
    return Runtime(spark, database, PATH, once=True).run()


def test_messages_of_nats_become_executions_once(
    spark: SparkSession, db: Connection, database: str, nats_server: Nats, stream: str, subscribe: Subscribe
) -> None:
    subscribe(
        nats_server.credential,
        source="nats",
        stream=stream,
        consumer="penstock",
        dispatch={"playbook": PLAYBOOK, "payload_from": "message.json"},
        headers={"directives": DIRECTIVES, "trace": {"propagate": "w3c"}},
        dedup={"window_s": 3600},
    )
    plain = [(b'{"n": %d}' % n, [("X-A", b"1"), ("traceparent", TRACE.encode())]) for n in range(600)]
    routed = [
        (b"{}", [("x-route", b"domain/fraud"), ("x-pool", b"priority")]),
        (b"{}", [("x-route", b"domain/secret")]),
    ]
    twice = [(b"{}", [("x-key", b"one")])] * 2
    nats_server.publish(f"{stream}.new", [*plain, *routed, *twice, (b"{", [])])
    _once(spark, database)
    one = subscriptions.show(db, PATH)
    assert (one.received, one.executions, one.deduplicated, one.dead_lettered) == (605, 603, 1, 1)
    assert rows(db, "select playbook_ref, pool, count(*) from penstock.v_execution group by 1, 2 order by 1") == [
        ("domain/fraud@1", "priority", 1),
        (f"{PLAYBOOK}@1", "subscription", 602),
    ]
    assert (
        value(db, "select count(*) from penstock.job where trace like '00-0af7651916cd43dd8448eb211c80319c-%%'") == 600
    )
    nats_server.publish(f"{stream}.new", [(b"{}", [])])
    _once(spark, database)
    assert (subscriptions.show(db, PATH).executions, subscriptions.show(db, PATH).replays) == (604, 0)


def test_records_of_kafka_become_executions_once(
    spark: SparkSession, db: Connection, database: str, kafka_broker: Kafka, topic: str, subscribe: Subscribe
) -> None:
    subscribe(kafka_broker.credential, source="kafka", topic=topic, group="penstock")
    kafka_broker.publish(topic, [(b"k", b"%d" % n, [("X-A", b"1"), ("x-a", b"2")]) for n in range(500)], 0)
    kafka_broker.publish(topic, [(b"k", None, []), (None, b"", [("h", b"\xff\x00")])], 1)
    _once(spark, database)
    assert subscriptions.show(db, PATH).executions == 502
    assert [(at.part, at.next_offset) for at in subscriptions.positions(db, PATH)] == [
        (f"{topic}:0", 500),
        (f"{topic}:1", 2),
    ]
    (tombstone, empty) = rows(
        db, "select body, attributes from penstock.ingest_message where part like '%%:1' order by source_offset"
    )
    assert (tombstone[0], empty[0], empty[1]) == (None, b"", [["h", {"base64": "/wA="}]])
    _once(spark, database)
    assert subscriptions.show(db, PATH).executions == 502


def test_a_runtime_does_what_the_state_says(
    spark: SparkSession, db: Connection, database: str, kafka_broker: Kafka, topic: str, subscribe: Subscribe
) -> None:
    subscribe(kafka_broker.credential, source="kafka", topic=topic, runtime={"trigger_ms": 200})
    left: list[str] = []
    runtime = Runtime(spark, database, PATH)
    thread = Thread(target=lambda: left.append(runtime.run()))
    thread.start()
    try:
        kafka_broker.publish(topic, [(None, b"1", [])])
        wait_until(lambda: subscriptions.show(db, PATH).executions == 1, "the first message is an execution", 120)
        subscriptions.move(db, PATH, "pause")
        wait_until(lambda: not spark.streams.active, "a pause ends the query", 60)
        kafka_broker.publish(topic, [(None, b"2", [])])
        subscriptions.move(db, PATH, "resume")
        wait_until(lambda: subscriptions.show(db, PATH).executions == 2, "what came meanwhile is read", 120)
        subscriptions.move(db, PATH, "drain")
        thread.join(60)
    finally:
        runtime.stop.set()
        thread.join(60)
    assert left == ["DEACTIVATED"]
    assert subscriptions.show(db, PATH).state == "DEACTIVATED"
    happened = [one.happening.removeprefix("subscription.") for one in subscriptions.history(db, PATH)]
    assert happened[::-1] == ["registered", "activated", "paused", "resumed", "draining", "deactivated"]


def test_a_stopped_runtime_leaves_the_subscription_active(
    spark: SparkSession, db: Connection, database: str, kafka_broker: Kafka, topic: str, subscribe: Subscribe
) -> None:
    subscribe(kafka_broker.credential, source="kafka", topic=topic)
    runtime = Runtime(spark, database, PATH)
    runtime.stop.set()
    assert runtime.run() == "ACTIVE"
    assert runtimes.lease(db, PATH, uuid4()).state == "ACTIVE"
