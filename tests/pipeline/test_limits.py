"""Limits: less is fetched, nothing is dropped, and nobody waits for room once the subscription is paused."""

from uuid import uuid4

from pyspark.sql import SparkSession

from penstock.kernel import jobs, subscriptions
from penstock.kernel.connection import Connection
from tests.concurrency.sessions import wait_until
from tests.ingest.support import PATH
from tests.parts.kafka import Kafka
from tests.parts.nats import Nats
from tests.pipeline import subscribing
from tests.pipeline.holding import Holding
from tests.pipeline.subscribing import Subscribe
from tests.sql.support import rows, value

subscribe = subscribing.subscribe
_START_S = 120
LIMITED = "select count(*) from penstock.v_subscription_event where happening = 'subscription.rate_limited'"


def _executions(db: Connection) -> int:
    return subscriptions.show(db, PATH).executions


def test_a_subscription_at_its_limit_waits_for_its_executions_to_end(
    spark: SparkSession, db: Connection, database: str, kafka_broker: Kafka, subscribe: Subscribe
) -> None:
    topic = f"t-{uuid4().hex[:8]}"
    kafka_broker.add_topic(topic)
    kafka_broker.publish(topic, [(None, b"%d" % number, []) for number in range(50)])
    limits = {"max_in_flight": 20}
    subscribe(kafka_broker.credential, source="kafka", topic=topic, limits=limits, runtime={"trigger_ms": 100})
    with Holding(spark, database):
        wait_until(lambda: _executions(db) == 20, "as many as fit are there", _START_S)
        wait_until(lambda: value(db, LIMITED) == 1, "the limit is said", _START_S)
        (ended,) = rows(db, "select array_agg(job_id) from (select job_id from penstock.job_queue limit 10) q")
        for job_id in ended[0]:
            jobs.cancel(db, job_id)
        wait_until(lambda: _executions(db) == 30, "there is room for ten more", _START_S)
        subscriptions.move(db, PATH, "pause")
        wait_until(lambda: not spark.streams.active, "a pause does not wait for room", _START_S)
    assert _executions(db) == 30
    assert (value(db, "select count(*) from penstock.job_queue"), value(db, LIMITED)) == (20, 1)


def test_a_rate_is_kept_batch_by_batch_and_said_once(
    spark: SparkSession, db: Connection, database: str, nats_server: Nats, subscribe: Subscribe
) -> None:
    stream = f"S{uuid4().hex[:8]}"
    nats_server.add_stream(stream)
    nats_server.add_consumer(stream, "penstock")
    nats_server.publish(f"{stream}.a", [(b"%d" % number, []) for number in range(12)])
    nats = {"source": "nats", "stream": stream, "consumer": "penstock"}
    subscribe(nats_server.credential, **nats, limits={"max_dispatch_per_sec": 5}, runtime={"trigger_ms": 100})
    with Holding(spark, database):
        wait_until(lambda: _executions(db) == 12, "all are there", _START_S)
        wait_until(lambda: value(db, LIMITED) == 1, "the limit is said", _START_S)
    batches = rows(
        db,
        "select count(*), extract(epoch from ingested_at)::float8 from penstock.ingest_message group by 2 order by 2",
    )
    assert [count for count, _ in batches] == [5, 5, 2]
    # a second each, whatever else a batch takes
    assert batches[-1][1] - batches[0][1] > 1.8
    assert value(db, LIMITED) == 1
    nats_server.delete_stream(stream)
