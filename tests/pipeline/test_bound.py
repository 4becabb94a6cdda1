"""A runtime that is told how many messages it is to have commits exactly those; the others wait at the source."""

from threading import Thread

import pytest
from pyspark.sql import SparkSession

from penstock.kernel import runtimes, subscriptions
from penstock.kernel.connection import Connection
from penstock.pipeline.bound import Bound
from penstock.pipeline.runtime import Runtime
from penstock.sources.nats import NatsSource
from tests.concurrency.sessions import wait_until
from tests.ingest.support import PATH, offsets, playbook, subscription
from tests.ingest.support import Runtime as IngestRuntime
from tests.pipeline import places, subscribing
from tests.pipeline.places import Place, Stream
from tests.pipeline.subscribing import Subscribe
from tests.sql.support import rows, value

subscribe, place, stream, topic = subscribing.subscribe, places.place, places.stream, places.topic
_START_S = 120


def _bodies(count: int, first: int = 0) -> list[bytes]:
    return [b"%d" % number for number in range(first, first + count)]


def _executed(db: Connection) -> int:
    return subscriptions.show(db, PATH).executions


@pytest.mark.parametrize("batch", [7, 50_000])
def test_no_more_are_committed_than_were_asked_for(
    batch: int, spark: SparkSession, db: Connection, database: str, place: Place, subscribe: Subscribe
) -> None:
    place.publish(_bodies(50))
    subscribe(place.credential, **place.spec, runtime={"batch": batch})
    assert Runtime(spark, database, PATH, once=True, bound=Bound(20)).run() == "ACTIVE"
    assert _executed(db) == 20
    # a second one goes on from there, and has the rest
    Runtime(spark, database, PATH, once=True, bound=Bound(100)).run()
    assert rows(db, "select count(*), count(distinct body) from penstock.ingest_message") == [(50, 50)]


def test_a_commit_that_nobody_heard_of_counts(db: Connection) -> None:
    playbook(db)
    subscription(db)
    runtime = IngestRuntime(db)
    runtime.put(*offsets(0, 1))
    runtime.commit()
    bound = Bound(5)
    bound.stand(runtimes.lease(db, PATH, runtime.incarnation, runtime.lease.token).counts)
    assert (bound.made, bound.is_met) == (0, False)
    runtime.put(*offsets(1, 2, 3, 4, 5, 6))
    runtime.commit()
    bound.stand(runtimes.lease(db, PATH, runtime.incarnation, runtime.lease.token).counts)
    assert (bound.made, bound.is_met) == (5, True)


def test_a_batch_that_does_not_fit_is_given_back_and_read_again_smaller(
    spark: SparkSession, db: Connection, database: str, stream: Stream, subscribe: Subscribe
) -> None:
    stream.publish(_bodies(5))
    subscribe(stream.credential, **stream.spec, runtime={"trigger_ms": 50})
    runtime = Runtime(spark, database, PATH, bound=Bound(12))
    thread = Thread(target=runtime.run)
    thread.start()
    wait_until(lambda: _executed(db) == 5, "the first ones are there", _START_S)
    # more than the seven that are still wanted, and no more than the batch it began with
    stream.publish(_bodies(11, first=5))
    thread.join(_START_S)
    assert not thread.is_alive()
    assert (_executed(db), value(db, "select count(distinct body) from penstock.ingest_message")) == (12, 12)
    with NatsSource(stream.credential, stream=stream.name, consumer="penstock") as source:
        assert source.backlog() == 4
        # given back: else they would stay away for the minute the consumer waits for an acknowledgement
        assert len(list(source.fetch(10, 5))) == 4
