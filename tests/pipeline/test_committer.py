"""The committer: batches in their order, one at a time, and nothing after the first that fails."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from penstock import hosts
from penstock.catalog.entry import spec_of
from penstock.catalog.subscription import SubscriptionSpec
from penstock.errors import NotTaken, RuntimeReplaced, StagingLost
from penstock.kernel import catalog, runtimes, subscriptions
from penstock.kernel.connection import Connection, connect
from penstock.pipeline.committer import Committer, Terms
from penstock.pipeline.handover import Batch, Share, hand_over
from penstock.pipeline.positions import starts
from penstock.sources.nats import NatsSource
from penstock.sources.opening import open_source
from tests.concurrency.sessions import DEADLINE_S, wait_until
from tests.ingest.support import PATH
from tests.parts.kafka import Kafka
from tests.parts.nats import Nats
from tests.pipeline import subscribing
from tests.pipeline.subscribing import Subscribe
from tests.sql.support import value

subscribe = subscribing.subscribe
OWN = "penstock commit"
HELD = "select from penstock.subscription_runtime where path = %s for update"


@pytest.fixture
def log(kafka_broker: Kafka, subscribe: Subscribe) -> str:
    """A subscription to a topic; its name."""
    topic = f"t-{uuid4().hex[:8]}"
    kafka_broker.add_topic(topic)
    subscribe(kafka_broker.credential, source="kafka", topic=topic)
    return topic


@contextmanager
def _committer(database: str, db: Connection, folder: Path) -> Iterator[Committer]:
    lease = runtimes.lease(db, PATH, uuid4())
    spec = spec_of("Subscription", catalog.entry(db, PATH, lease.version, "Subscription").content)
    assert isinstance(spec, SubscriptionSpec)
    source = open_source(spec, hosts.credentials())
    terms = Terms(spec, lease.token, starts({}, source.spans(), {}).named())
    source.close()
    with Committer(terms, database, folder) as committer:
        yield committer


def _put(
    db: Connection, committer: Committer, number: int, part: str, *, lie: int = 0, ack: str | None = None
) -> Batch:
    """Stage one message as the batch with this number."""
    lane = number % len(committer.stages)
    share = Share(lane, {f"a{number}": 1 + lie}, {part: number}, {part: number + 1})
    db.execute(
        f"insert into penstock.{committer.stages[lane].name} (attempt, part, source_offset, identity, message_id, body,"
        " attributes, ack) values (%s, %s, %s, %s, %s, '{}', '[]', %s)".encode(),
        [f"a{number}", part, number, f"{part}:{number}", str(number), ack],
    )
    return Batch(number, [share])


def _executions(db: Connection) -> int:
    return int(value(db, "select count(*) from penstock.job"))


def test_a_log_is_read_on_while_its_batch_is_committed_and_no_further(
    db: Connection, database: str, log: str, tmp_path: Path
) -> None:
    with _committer(database, db, tmp_path) as committer:
        assert len(committer.stages) == 2
        with ThreadPoolExecutor(1) as spark, connect(database) as holder:
            with holder.transaction():
                holder.execute(HELD, [PATH])
                hand_over(committer.address, _put(db, committer, 0, f"{log}:0"))
                second = spark.submit(hand_over, committer.address, _put(db, committer, 1, f"{log}:0"))
                with pytest.raises(TimeoutError):
                    second.result(0.5)
                assert (_executions(db), committer.done) == (0, -1)
            second.result(DEADLINE_S)
        assert committer.is_settled(DEADLINE_S)
        assert (_executions(db), committer.done, committer.failure) == (2, 1, None)
        assert [at.next_offset for at in subscriptions.positions(db, PATH)] == [2]


def test_a_queue_is_read_on_only_after_the_commit(
    db: Connection, database: str, nats_server: Nats, subscribe: Subscribe, tmp_path: Path
) -> None:
    stream = f"S{uuid4().hex[:8]}"
    nats_server.add_stream(stream)
    nats_server.add_consumer(stream, "penstock")
    subscribe(nats_server.credential, source="nats", stream=stream, consumer="penstock")
    with _committer(database, db, tmp_path) as committer:
        assert len(committer.stages) == 1
        with ThreadPoolExecutor(1) as spark, connect(database) as holder:
            with holder.transaction():
                holder.execute(HELD, [PATH])
                first = spark.submit(hand_over, committer.address, _put(db, committer, 1, stream))
                with pytest.raises(TimeoutError):
                    first.result(0.5)
            first.result(DEADLINE_S)
            assert _executions(db) == 1
    nats_server.delete_stream(stream)


def test_what_was_not_committed_is_given_back_at_once(
    db: Connection, database: str, nats_server: Nats, subscribe: Subscribe, tmp_path: Path
) -> None:
    stream = f"S{uuid4().hex[:8]}"
    nats_server.add_stream(stream)
    nats_server.add_consumer(stream, "penstock", ack_wait=600)
    nats_server.publish(f"{stream}.a", [(b"{}", [])])
    subscribe(nats_server.credential, source="nats", stream=stream, consumer="penstock")
    with (
        _committer(database, db, tmp_path) as committer,
        NatsSource(nats_server.credential, stream=stream, consumer="penstock") as source,
    ):
        (message,) = source.fetch(10, 5)
        batch = _put(db, committer, 1, stream, lie=1, ack=message.ack)
        with pytest.raises(NotTaken, match="2 rows, 1 are there"):
            hand_over(committer.address, batch)
        assert list(source.fetch(10, 0.1)) == []
        hand_over(committer.address, replace(batch, is_aborted=True))
        (again,) = source.fetch(10, DEADLINE_S)
        assert (again.offset, again.deliveries) == (message.offset, 2)
    nats_server.delete_stream(stream)


@pytest.mark.parametrize("limits", [{"max_in_flight": 100}, {"max_dispatch_per_sec": 50}])
def test_a_log_with_limits_is_not_read_ahead(
    db: Connection, database: str, log: str, tmp_path: Path, subscribe: Subscribe, kafka_broker: Kafka, limits: Any
) -> None:
    subscribe(kafka_broker.credential, source="kafka", topic=log, limits=limits)
    with _committer(database, db, tmp_path) as committer:
        assert len(committer.stages) == 1


def test_a_pause_makes_no_room(
    db: Connection, database: str, log: str, tmp_path: Path, subscribe: Subscribe, kafka_broker: Kafka
) -> None:
    subscribe(kafka_broker.credential, source="kafka", topic=log, limits={"max_in_flight": 1})
    with _committer(database, db, tmp_path) as committer, ThreadPoolExecutor(1) as spark:
        first = spark.submit(hand_over, committer.address, _put(db, committer, 0, f"{log}:0"))
        wait_until(lambda: committer.is_full, "it waits for room")
        subscriptions.move(db, PATH, "pause")
        with pytest.raises(TimeoutError):
            first.result(0.5)
        committer.say_last()
        first.result(DEADLINE_S)
        committer.hurry()
        with pytest.raises(NotTaken, match="is to stop"):
            hand_over(committer.address, _put(db, committer, 1, f"{log}:0"))
    assert _executions(db) == 1


def test_nothing_is_taken_after_a_batch_that_was_not_committed(
    db: Connection, database: str, log: str, tmp_path: Path
) -> None:
    with _committer(database, db, tmp_path) as committer:
        hand_over(committer.address, _put(db, committer, 0, f"{log}:0", lie=1))
        wait_until(lambda: committer.failure is not None, "the commit has failed")
        assert isinstance(committer.failure, StagingLost)
        with pytest.raises(NotTaken, match=r"an earlier batch was not committed: .*2 rows, 1 are there"):
            hand_over(committer.address, _put(db, committer, 1, f"{log}:0"))
        assert (_executions(db), committer.done) == (0, -1)


def test_a_runtime_that_was_replaced_commits_nothing(db: Connection, database: str, log: str, tmp_path: Path) -> None:
    with _committer(database, db, tmp_path) as committer:
        batch = _put(db, committer, 0, f"{log}:0")
        db.execute("update penstock.subscription_runtime set token = token + 1")
        hand_over(committer.address, batch)
        wait_until(lambda: committer.failure is not None, "the commit has failed")
        assert isinstance(committer.failure, RuntimeReplaced)
    assert _executions(db) == 0


def test_a_server_that_was_started_again_is_not_committed_to(
    db: Connection, database: str, log: str, tmp_path: Path
) -> None:
    """It may be an older copy: only a start from the ledger finds out."""
    with _committer(database, db, tmp_path) as committer:
        batch = _put(db, committer, 0, f"{log}:0")
        ended = (
            "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = %s and datname = %s"
        )
        assert value(db, ended, OWN, db.info.dbname) == 1
        hand_over(committer.address, batch)
        wait_until(lambda: committer.failure is not None, "the commit has failed")
    assert _executions(db) == 0
