"""A runtime's row: somebody's open transaction has it, or another take has changed it."""

from datetime import datetime
from uuid import UUID, uuid4

from pyspark.sql import SparkSession

from penstock.errors import RuntimeReplaced
from penstock.kernel import runtimes, subscriptions
from penstock.kernel.connection import Connection, connect
from tests.concurrency.sessions import wait_until
from tests.ingest.support import PATH
from tests.parts.nats import Nats
from tests.pipeline import places, subscribing
from tests.pipeline.holding import Holding
from tests.pipeline.places import Stream
from tests.pipeline.subscribing import Subscribe
from tests.sql.support import rows, value

subscribe, stream = subscribing.subscribe, places.stream

_WAIT_S = 240
SESSIONS = (
    "select query_start, query from pg_stat_activity"
    " where application_name = 'penstock runtime' and datname = current_database()"
)


def test_a_runtime_whose_row_is_held_tries_again_and_reads_on(
    spark: SparkSession, db: Connection, database: str, nats_server: Nats, subscribe: Subscribe
) -> None:
    stream = f"S{uuid4().hex[:8]}"
    nats_server.add_stream(stream)
    nats_server.add_consumer(stream, "penstock")
    nats = {"source": "nats", "stream": stream, "consumer": "penstock"}
    subscribe(nats_server.credential, **nats, runtime={"trigger_ms": 200})
    tries: set[datetime] = set()

    def tried_twice() -> bool:
        # each is a statement of its own
        tries.update(began for began, query in rows(db, SESSIONS) if "fn_runtime_lease" in query)
        return len(tries) > 1

    with Holding(spark, f"{database}&options=-c%20lock_timeout%3D200") as holding:
        nats_server.publish(f"{stream}.a", [(b"1", [])])
        wait_until(lambda: subscriptions.show(db, PATH).executions == 1, "it reads", _WAIT_S)
        with connect(database) as other, other.transaction():
            other.execute("select from penstock.subscription_runtime for update")
            subscriptions.move(db, PATH, "pause")
            wait_until(lambda: rows(db, SESSIONS) == [], "it is paused", _WAIT_S)
            subscriptions.move(db, PATH, "resume")
            wait_until(tried_twice, "it tries again for its row", _WAIT_S)
        nats_server.publish(f"{stream}.a", [(b"2", [])])
        wait_until(lambda: subscriptions.show(db, PATH).executions == 2, f"it reads on: {holding.error}", _WAIT_S)
    nats_server.delete_stream(stream)


def test_a_take_of_its_own_that_comes_late_is_no_other_runtime(
    spark: SparkSession, db: Connection, database: str, stream: Stream, subscribe: Subscribe
) -> None:
    stream.publish([b"1"])
    subscribe(stream.credential, **stream.spec, runtime={"trigger_ms": 200})
    with Holding(spark, database) as holding:
        wait_until(lambda: subscriptions.show(db, PATH).executions == 1, "it reads", _WAIT_S)
        # on its way for so long that it was given up, and made again, before it arrived
        runtimes.lease(db, PATH, UUID(str(value(db, "select incarnation from penstock.subscription_runtime"))))
        stream.publish([b"2"])
        wait_until(lambda: subscriptions.show(db, PATH).executions == 2, f"it reads on: {holding.error}", _WAIT_S)
        db.execute("update penstock.subscription_runtime set lease_until = null, incarnation = null, token = token + 1")
        wait_until(lambda: not holding.is_running, "another one ends it", _WAIT_S)
    assert isinstance(holding.error, RuntimeReplaced), holding.error
