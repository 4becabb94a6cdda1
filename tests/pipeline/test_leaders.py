"""The leader of a partition dies and another takes over, while a runtime reads."""

import pytest
from pyspark.sql import SparkSession

from penstock.kernel.connection import Connection
from tests.concurrency.sessions import wait_until
from tests.parts.kafka_pair import KafkaPair, kafka_pair
from tests.pipeline import subscribing
from tests.pipeline.holding import Holding
from tests.pipeline.subscribing import Subscribe
from tests.sql.support import value

__all__ = ["kafka_pair"]

subscribe = subscribing.subscribe
_PATIENCE_S = 120


@pytest.mark.long
def test_records_are_read_once_while_their_partition_moves_from_broker_to_broker(
    spark: SparkSession, db: Connection, database: str, kafka_pair: KafkaPair, subscribe: Subscribe
) -> None:
    kafka_pair.add_topic("orders")
    subscribe(kafka_pair.credential, source="kafka", topic="orders", runtime={"trigger_ms": 200})
    published = 0

    def publish_and_wait() -> None:
        nonlocal published
        kafka_pair.publish("orders", [(None, b"%d" % number, []) for number in range(published, published + 50)])
        published += 50
        wait_until(lambda: _executions(db) >= published, f"{published} are executed", _PATIENCE_S)

    with Holding(spark, database) as held:
        publish_and_wait()
        for _ in range(2):
            kafka_pair.until_both_have("orders")
            kafka_pair.kill_second()
            kafka_pair.until_led_by(1, "orders")
            publish_and_wait()
            kafka_pair.start_second()
            publish_and_wait()
        assert held.is_running
    assert (_executions(db), value(db, "select count(distinct source_ref) from penstock.job")) == (published, published)


def _executions(db: Connection) -> int:
    return int(value(db, "select count(*) from penstock.job"))
