"""A runtime seen from outside: scraped over HTTP, and by its spans."""

from collections.abc import Iterator
from dataclasses import dataclass
from threading import Thread
from time import time_ns
from uuid import uuid4

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pyspark.sql import SparkSession

from penstock.errors import PenstockError
from penstock.kernel import subscriptions
from penstock.kernel.connection import Connection
from penstock.pipeline.metrics import Metrics, served
from penstock.pipeline.runtime import Runtime
from penstock.pipeline.telemetry import Telemetry
from tests.concurrency.sessions import wait_until
from tests.ingest.support import PATH, PLAYBOOK
from tests.parts.nats import Nats
from tests.parts.prometheus import scraped
from tests.pipeline import subscribing
from tests.pipeline.subscribing import Subscribe

KEYED = {"directives": [{"header": "X-Key", "controls": "idempotency_key"}]}
SECRET = "4111-1111-1111-1111"

subscribe = subscribing.subscribe


@dataclass(frozen=True)
class Watched:
    """A process's telemetry, its port, and the spans it has sent."""

    telemetry: Telemetry
    port: int
    exporter: InMemorySpanExporter

    def messages(self, outcome: str) -> float:
        labels = f'outcome="{outcome}",source="nats",subscription="{PATH}"'
        return scraped(self.port).get(f"penstock_ingest_messages_total{{{labels}}}", -1)

    def number(self, name: str, labels: str = f'subscription="{PATH}"') -> float:
        return scraped(self.port).get(f"{name}{{{labels}}}", -1)

    def state(self, name: str) -> float:
        return self.number("penstock_runtime_state", f'state="{name}",subscription="{PATH}"')

    def spans(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()


@pytest.fixture
def watched() -> Iterator[Watched]:
    metrics, exporter = Metrics(), InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with served(metrics, "127.0.0.1", 0) as port:
        yield Watched(Telemetry(metrics, provider.get_tracer("test")), port, exporter)


@pytest.fixture
def stream(nats_server: Nats, subscribe: Subscribe) -> Iterator[str]:
    """A stream, and the subscription to it."""
    name = f"S{uuid4().hex[:8]}"
    nats_server.add_stream(name)
    nats_server.add_consumer(name, "penstock")
    subscribe(
        nats_server.credential,
        source="nats",
        stream=name,
        consumer="penstock",
        dispatch={"playbook": PLAYBOOK, "payload_from": "message.json"},
        headers=KEYED,
        dedup={"window_s": 3600},
        runtime={"trigger_ms": 200},
    )
    yield name
    nats_server.delete_stream(name)


def _mixed(key: str) -> list[tuple[bytes, list[tuple[str, bytes]]]]:
    """Ten to execute, of which one comes twice more, and one that is no JSON."""
    card = b'{"card": "%s"}' % SECRET.encode()
    return [*[(card, [])] * 9, *[(card, [("X-Key", key.encode())])] * 3, (b"{" + SECRET.encode(), [])]


def test_a_process_counts_its_own_commits_and_no_others(
    spark: SparkSession, database: str, nats_server: Nats, stream: str, watched: Watched
) -> None:
    nats_server.publish(f"{stream}.a", _mixed("one"))
    Runtime(spark, database, PATH, once=True).run()
    nats_server.publish(f"{stream}.a", _mixed("two"))
    Runtime(spark, database, PATH, once=True, telemetry=watched.telemetry).run()
    outcomes = ("executed", "deduplicated", "dead_lettered", "replayed")
    assert [watched.messages(one) for one in outcomes] == [10, 2, 1, 0]
    nats_server.publish(f"{stream}.a", [(b"{}", [])])
    Runtime(spark, database, PATH, once=True).run()
    nats_server.publish(f"{stream}.a", _mixed("two"))
    Runtime(spark, database, PATH, once=True, telemetry=watched.telemetry).run()
    assert [watched.messages(one) for one in outcomes] == [19, 5, 2, 0]
    by_source = f'source="nats",subscription="{PATH}"'
    assert watched.number("penstock_ingest_batches_total", by_source) == len(watched.spans())
    assert watched.number("penstock_ingest_batch_seconds_count", by_source) == len(watched.spans())


def test_a_batchs_span_says_when_it_was_and_what_became_of_it_and_nothing_of_its_messages(
    spark: SparkSession, database: str, nats_server: Nats, stream: str, watched: Watched
) -> None:
    nats_server.publish(f"{stream}.a", _mixed("one"))
    began_ns = time_ns()
    Runtime(spark, database, PATH, once=True, telemetry=watched.telemetry).run()
    (span,) = watched.spans()
    attributes = dict(span.attributes or {})
    assert (span.name, span.status.is_ok) == ("penstock.ingest.batch", True)
    assert began_ns - 1_000_000 <= (span.start_time or 0) < (span.end_time or 0) <= time_ns()
    said = {name.removeprefix("penstock.batch."): value for name, value in attributes.items()}
    outcomes = ("rows", "executions", "deduplicated", "dead_lettered", "replays")
    assert [said[name] for name in outcomes] == [13, 10, 2, 1, 0]
    assert {"spark.duration_ms.latestOffset", "spark.duration_ms.addBatch", "penstock.batch.commit_ms"} < set(
        attributes
    )
    assert SECRET not in str((span.name, attributes, span.events, span.links))


def test_a_batch_that_fails_is_a_span_with_its_error(
    spark: SparkSession, db: Connection, database: str, nats_server: Nats, stream: str, watched: Watched
) -> None:
    db.execute(
        "create function public.refuse() returns trigger language plpgsql as"
        " $$ begin raise exception using errcode = 'PS021', message = 'rows are gone'; end $$"
    )
    db.execute("create trigger refuse before insert on penstock.job_queue execute function public.refuse()")
    nats_server.publish(f"{stream}.a", [(SECRET.encode(), [])])
    began_ns = time_ns()
    with pytest.raises(PenstockError):
        Runtime(spark, database, PATH, once=True, telemetry=watched.telemetry).run()
    (span,) = watched.spans()
    assert (span.status.is_ok, span.status.description) == (False, "StagingLost: rows are gone")
    assert began_ns <= (span.start_time or 0) + 1_000_000 < (span.end_time or 0) <= time_ns()
    assert SECRET not in str((span.attributes, span.status.description, span.events))
    assert (watched.state("failed"), watched.messages("executed")) == (1, 0)


def test_a_running_runtime_tells_its_state_its_lag_and_its_last_commit(
    spark: SparkSession, db: Connection, database: str, nats_server: Nats, stream: str, watched: Watched
) -> None:
    runtime = Runtime(spark, database, PATH, telemetry=watched.telemetry)
    thread = Thread(target=runtime.run)
    began_s = time_ns() / 1e9
    thread.start()
    try:
        wait_until(lambda: watched.state("reading") == 1, "it reads", 120)
        nats_server.publish(f"{stream}.a", _mixed("one"))
        wait_until(lambda: watched.messages("executed") == 10, "its commit is counted", 120)
        wait_until(lambda: len(watched.spans()) >= 1, "its batch is told of while it runs", 30)
        wait_until(lambda: watched.number("penstock_ingest_lag_messages") == 0, "nothing waits", 30)
        assert watched.number("penstock_ingest_last_commit_timestamp_seconds") >= began_s
        subscriptions.move(db, PATH, "pause")
        wait_until(lambda: watched.state("paused") == 1, "it is paused", 60)
        assert watched.state("reading") == 0
    finally:
        runtime.stop.set()
        thread.join(60)
    assert watched.state("stopped") == 1
    assert watched.messages("executed") == 10
