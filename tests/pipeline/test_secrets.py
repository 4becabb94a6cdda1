"""No secret where Spark shows what it does: plans, options, the event log, progress, command lines, error texts."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import psutil
import pytest
from pyspark.sql import SparkSession

from penstock.kernel import subscriptions
from penstock.kernel.connection import Connection
from penstock.pipeline.runtime import Runtime
from tests.concurrency.sessions import wait_until
from tests.ingest.support import PATH
from tests.parts import kafka, nats
from tests.parts.kafka import Kafka
from tests.parts.nats import Nats
from tests.pipeline import subscribing
from tests.pipeline.holding import Holding
from tests.pipeline.subscribing import Subscribe

subscribe = subscribing.subscribe
WRONG = "wrong-and-secret-9182"


@pytest.fixture
def topic(kafka_broker: Kafka) -> Iterator[str]:
    name = f"t-{uuid4().hex[:8]}"
    kafka_broker.add_topic(name)
    kafka_broker.publish(name, [(None, b"1", [])])
    yield name
    kafka_broker.delete_topic(name)


@pytest.fixture
def stream(nats_server: Nats) -> Iterator[str]:
    name = f"S{uuid4().hex[:8]}"
    nats_server.add_stream(name)
    nats_server.add_consumer(name, "penstock")
    nats_server.publish(f"{name}.a", [(b"1", [])])
    yield name
    nats_server.delete_stream(name)


def _shown(spark: SparkSession, event_log: Path) -> dict[str, str]:
    """Everything a running query shows, by where."""
    (query,) = spark.streams.active
    assert query.lastProgress is not None
    return {
        "plan": str(query._jsq.explainInternal(True)),
        "progress": repr(query.lastProgress),
        "settings": repr(sorted(spark.sparkContext.getConf().getAll())),
        "command lines": repr([_command_line(one) for one in psutil.Process().children(recursive=True)]),
        "event log": "".join(file.read_text() for file in event_log.rglob("*") if file.is_file()),
    }


def _command_line(process: psutil.Process) -> list[str]:
    """Empty if it has ended meanwhile."""
    with suppress(psutil.Error):
        return process.cmdline()
    return []


def _spelled(secret: str) -> set[str]:
    """A secret as it would stand in a text, in JSON, or in a JAAS line."""
    escaped = secret.replace("\\", "\\\\").replace('"', '\\"')
    return {secret, escaped, json.dumps(secret)[1:-1], json.dumps(escaped)[1:-1]}


def _run_and_look(spark: SparkSession, db: Connection, database: str, event_log: Path) -> dict[str, str]:
    runtime = Runtime(spark, database, PATH)
    thread = Thread(target=runtime.run)
    thread.start()
    try:
        wait_until(lambda: subscriptions.show(db, PATH).executions == 1, "the message is an execution", 180)
        wait_until(lambda: any(query.lastProgress for query in spark.streams.active), "a batch has ended", 60)
        return _shown(spark, event_log)
    finally:
        runtime.stop.set()
        thread.join(120)


def test_the_login_of_kafka_is_shown_nowhere(
    spark: SparkSession, event_log: Path, db: Connection, database: str, kafka_broker: Kafka, topic: str,
    subscribe: Subscribe,
) -> None:  # fmt: skip
    subscribe(kafka_broker.secure_credential(), source="kafka", topic=topic, runtime={"trigger_ms": 200})
    shown = _run_and_look(spark, db, database, event_log)
    assert "kafka" in shown["plan"].lower(), shown["plan"]
    assert "SparkListenerApplicationStart" in shown["event log"]
    assert [where for where, text in shown.items() for secret in _spelled(kafka.PASSWORD) if secret in text] == []


def test_the_login_of_nats_and_the_database_are_shown_nowhere(
    spark: SparkSession, event_log: Path, db: Connection, database: str, nats_server: Nats, stream: str,
    subscribe: Subscribe,
) -> None:  # fmt: skip
    subscribe(nats_server.credential, source="nats", stream=stream, consumer="penstock", runtime={"trigger_ms": 200})
    shown = _run_and_look(spark, db, database, event_log)
    secrets = {nats.PASSWORD, database}
    assert [where for where, text in shown.items() for secret in secrets if secret in text] == []


@pytest.mark.parametrize("source", ["kafka", "nats"])
def test_a_wrong_password_is_not_repeated_in_what_is_said_of_it(
    spark: SparkSession,
    db: Connection,
    database: str,
    source: str,
    subscribe: Subscribe,
    request: pytest.FixtureRequest,
) -> None:
    credential: dict[str, Any]
    if source == "kafka":
        broker, topic = request.getfixturevalue("kafka_broker"), request.getfixturevalue("topic")
        credential, spec = broker.secure_credential(password=WRONG), {"source": "kafka", "topic": topic}
    else:
        server, stream = request.getfixturevalue("nats_server"), request.getfixturevalue("stream")
        credential = server.credential | {"password": WRONG}
        spec = {"source": "nats", "stream": stream, "consumer": "penstock"}
    subscribe(credential, **spec)
    with Holding(spark, database):
        wait_until(lambda: _said(db) != [], "it is said that the source is away", 120)
    (said,) = _said(db)
    assert "refused the credential" in said
    assert WRONG not in said


def _said(db: Connection) -> list[str]:
    return [repr(one.detail) for one in subscriptions.history(db, PATH) if "source_unavailable" in one.happening]
