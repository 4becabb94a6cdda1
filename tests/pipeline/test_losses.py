"""A source and a ledger that do not fit any more: named, and never passed over in silence."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from penstock.errors import DataLoss
from penstock.kernel import subscriptions
from penstock.kernel.connection import Connection
from penstock.pipeline.runtime import Runtime
from tests.ingest.support import PATH
from tests.parts.kafka import Kafka
from tests.parts.nats import Nats
from tests.pipeline import subscribing
from tests.pipeline.older import as_of_an_older_copy
from tests.pipeline.subscribing import Subscribe
from tests.sql.support import rows, value

subscribe = subscribing.subscribe


@pytest.fixture(params=["limits", "workqueue"])
def stream(request: pytest.FixtureRequest, nats_server: Nats) -> Iterator[tuple[str, str]]:
    name = f"S{uuid4().hex[:8]}"
    nats_server.add_stream(name, request.param)
    nats_server.add_consumer(name, "penstock")
    yield name, request.param
    nats_server.delete_stream(name)


def _once(spark: SparkSession, database: str) -> None:
    Runtime(spark, database, PATH, once=True).run()


def test_a_consumer_that_is_ahead_of_a_restored_database_is_noticed(
    spark: SparkSession, db: Connection, database: str, nats_server: Nats, stream: tuple[str, str], subscribe: Subscribe
) -> None:
    name, retention = stream
    subscribe(nats_server.credential, source="nats", stream=name, consumer="penstock")
    nats_server.publish(f"{name}.a", [(b"%d" % n, []) for n in range(60)])
    _once(spark, database)
    as_of_an_older_copy(db, 40)
    happened = "select happening from penstock.v_subscription_event where happening ~ 'read_again|data_loss'"
    if retention == "limits":
        _once(spark, database)
        assert value(db, "select count(distinct source_ref) from penstock.job") == 60
        assert rows(db, happened) == [("subscription.read_again",)]
    else:
        with pytest.raises(DataLoss, match="from 41 to before 61"):
            _once(spark, database)
        assert rows(db, happened) == [("subscription.data_loss_refused",)]


def test_a_topic_that_was_made_again_is_read_from_its_beginning_only_if_told_to(
    spark: SparkSession, db: Connection, database: str, kafka_broker: Kafka, subscribe: Subscribe
) -> None:
    topic = f"t-{uuid4().hex[:8]}"
    kafka_broker.add_topic(topic)
    subscribe(kafka_broker.credential, source="kafka", topic=topic)
    kafka_broker.publish(topic, [(None, b"old", [])] * 5)
    _once(spark, database)
    kafka_broker.delete_topic(topic)
    kafka_broker.add_topic(topic)
    kafka_broker.publish(topic, [(None, b"new", [])] * 2)
    with pytest.raises(DataLoss, match="made_again"):
        _once(spark, database)
    subscribe(kafka_broker.credential, source="kafka", topic=topic, on_data_loss="skip_and_record")
    _once(spark, database)
    assert subscriptions.show(db, PATH).executions == 7
    losses = "select detail #>> '{losses,0,reason}' from penstock.v_subscription_event where happening ~ 'data_loss$'"
    assert rows(db, losses) == [("made_again",)]
