"""Where a source and a ledger meet at odd angles: patterns, transactions, cut connections."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from penstock.kernel import subscriptions
from penstock.kernel.connection import Connection, connect
from penstock.pipeline.runtime import Runtime
from penstock.sources.nats import NatsSource
from tests.concurrency.sessions import wait_until
from tests.ingest.support import PATH
from tests.parts.kafka import Kafka
from tests.parts.nats import Nats
from tests.pipeline import subscribing
from tests.pipeline.holding import Holding, run_once
from tests.pipeline.subscribing import Subscribe
from tests.sql.support import rows, value

subscribe = subscribing.subscribe

NEXT_OFFSET = "select next_offset from penstock.ingest_position"
MOVING = (
    "select count(*) from pg_stat_activity where application_name = 'penstock runtime' and wait_event_type = 'Lock'"
    " and query ~ 'fn_ingest_commit' and datname = current_database()"
)


@pytest.fixture
def prefix(kafka_broker: Kafka) -> Iterator[str]:
    name = f"p{uuid4().hex[:8]}"
    yield name
    for topic in kafka_broker.topics():
        if name in topic:
            kafka_broker.delete_topic(topic)


def _read_topics(db: Connection) -> list[tuple[object, ...]]:
    return rows(db, "select split_part(part, ':', 1), count(*) from penstock.ingest_message group by 1 order by 1")


def test_a_pattern_is_for_whole_names_and_a_topic_that_comes_later_is_read_from_its_beginning(
    spark: SparkSession, db: Connection, database: str, kafka_broker: Kafka, prefix: str, subscribe: Subscribe
) -> None:
    for name in (prefix, f"{prefix}-dlq", f"x{prefix}"):
        kafka_broker.add_topic(name)
        kafka_broker.publish(name, [(None, b"old", [])])
    subscribe(
        kafka_broker.credential,
        source="kafka",
        topic_pattern=f"{prefix}|{prefix}-late",
        start="latest",
        runtime={"trigger_ms": 200},
    )
    with Holding(spark, database):
        wait_until(lambda: value(db, "select count(*) from penstock.ingest_position") == 1, "it has begun", 120)
        kafka_broker.publish(prefix, [(None, b"new", [])])
        wait_until(lambda: subscriptions.show(db, PATH).executions == 1, "what came since is read", 120)
        kafka_broker.add_topic(f"{prefix}-late")
        kafka_broker.publish(f"{prefix}-late", [(None, b"first", [])] * 3)
        wait_until(lambda: subscriptions.show(db, PATH).executions == 4, "a later topic is read", 180)
    assert _read_topics(db) == [(prefix, 1), (f"{prefix}-late", 3)]


def test_the_first_topic_of_a_pattern_that_matched_none_is_read_from_its_beginning(
    spark: SparkSession, db: Connection, database: str, kafka_broker: Kafka, prefix: str, subscribe: Subscribe
) -> None:
    subscribe(kafka_broker.credential, source="kafka", topic_pattern=f"{prefix}.*", start="latest")
    Runtime(spark, database, PATH, once=True).run()
    kafka_broker.add_topic(f"{prefix}-a")
    kafka_broker.publish(f"{prefix}-a", [(None, b"first", [])] * 3)
    Runtime(spark, database, PATH, once=True).run()
    assert _read_topics(db) == [(f"{prefix}-a", 3)]


def test_the_ledger_passes_the_marks_of_transactions(
    spark: SparkSession, db: Connection, database: str, kafka_broker: Kafka, prefix: str, subscribe: Subscribe
) -> None:
    kafka_broker.add_topic(prefix)
    subscribe(kafka_broker.credential, source="kafka", topic=prefix, runtime={"trigger_ms": 200})
    producer = kafka_broker.transactional(prefix)
    with Holding(spark, database):
        for commits in (True, False, True):
            _transaction(producer, prefix, commits=commits)
        wait_until(lambda: subscriptions.show(db, PATH).executions == 10, "what was committed is read", 120)
        # ten records, five that were taken back, and three marks
        wait_until(lambda: value(db, NEXT_OFFSET) == 18, "the ledger is behind the last mark", 60)
    _transaction(producer, prefix)
    run_once(spark, database)
    assert (subscriptions.show(db, PATH).executions, value(db, NEXT_OFFSET)) == (15, 24)


def test_a_runtime_whose_row_is_held_waits_for_it_with_no_mark(
    spark: SparkSession, db: Connection, database: str, kafka_broker: Kafka, prefix: str, subscribe: Subscribe
) -> None:
    kafka_broker.add_topic(prefix)
    subscribe(kafka_broker.credential, source="kafka", topic=prefix, runtime={"trigger_ms": 200})
    producer = kafka_broker.transactional(prefix)
    with Holding(spark, database):
        _transaction(producer, prefix)
        wait_until(lambda: rows(db, NEXT_OFFSET) == [(6,)], "the ledger is behind the first mark", 120)
        with connect(database) as other, other.transaction():
            other.execute("set local idle_in_transaction_session_timeout = 0")
            other.execute("select from penstock.subscription_runtime for update")
            _transaction(producer, prefix, commits=False)
            wait_until(lambda: value(db, MOVING) == 1, "the ledger is to follow", 120)
            subscriptions.move(db, PATH, "pause")
            wait_until(lambda: not spark.streams.active, "the query has ended", 120)
        subscriptions.move(db, PATH, "resume")
        wait_until(lambda: value(db, NEXT_OFFSET) == 12, "the ledger is behind the second mark", 120)


def _transaction(producer: Producer, topic: str, *, commits: bool = True) -> None:
    """Five records and a mark."""
    producer.begin_transaction()
    for number in range(5):
        producer.produce(topic, b"%d" % number)
    producer.flush(60)
    if commits:
        producer.commit_transaction(60)
    else:
        producer.abort_transaction(60)


def test_a_connection_that_was_cut_does_not_keep_a_pause_from_ending_the_query(
    spark: SparkSession, db: Connection, database: str, kafka_broker: Kafka, prefix: str, subscribe: Subscribe
) -> None:
    kafka_broker.add_topic(prefix)
    kafka_broker.publish(prefix, [(None, b"1", [])])
    subscribe(kafka_broker.credential, source="kafka", topic=prefix, runtime={"trigger_ms": 200})
    with Holding(spark, database):
        wait_until(lambda: subscriptions.show(db, PATH).executions == 1, "the first message is an execution", 120)
        db.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
            " and application_name = 'penstock runtime'"
        )
        subscriptions.move(db, PATH, "pause")
        wait_until(lambda: not spark.streams.active, "the query has ended", 60)
        kafka_broker.publish(prefix, [(None, b"2", [])])
        subscriptions.move(db, PATH, "resume")
        wait_until(lambda: subscriptions.show(db, PATH).executions == 2, "it reads on", 120)


def test_a_stop_gives_up_a_commit_that_hangs(
    spark: SparkSession,
    db: Connection,
    database: str,
    kafka_broker: Kafka,
    prefix: str,
    subscribe: Subscribe,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("penstock.pipeline.runtime._COMMIT_S", 1)
    kafka_broker.add_topic(prefix)
    kafka_broker.publish(prefix, [(None, b"1", [])])
    subscribe(kafka_broker.credential, source="kafka", topic=prefix, runtime={"trigger_ms": 200})
    waiting = (
        "select count(*) from pg_stat_activity"
        " where application_name = 'penstock commit' and wait_event_type = 'Lock' and datname = current_database()"
    )
    with connect(database) as other, other.transaction():
        other.execute("lock table penstock.ingest_message in access exclusive mode")
        with Holding(spark, database):
            wait_until(lambda: value(db, waiting) == 1, "the commit hangs", 120)
    assert value(db, "select count(*) from penstock.job") == 0
    assert subscriptions.show(db, PATH).lease_until is None
    run_once(spark, database)
    assert value(db, "select count(*) from penstock.job") == 1


def test_a_drain_in_the_middle_leaves_nothing_handed_out(
    spark: SparkSession, db: Connection, database: str, nats_server: Nats, prefix: str, subscribe: Subscribe
) -> None:
    stream, total = prefix.upper(), 20_000
    nats_server.add_stream(stream)
    nats_server.add_consumer(stream, "penstock")
    nats_server.publish(f"{stream}.a", [(b"%d" % number, []) for number in range(total)])
    nats = {"source": "nats", "stream": stream, "consumer": "penstock"}
    subscribe(nats_server.credential, **nats, runtime={"trigger_ms": 100, "batch": 100})
    with Holding(spark, database) as holding:
        wait_until(lambda: subscriptions.show(db, PATH).executions > 0, "it reads", 120)
        subscriptions.move(db, PATH, "drain")
        wait_until(lambda: not holding.is_running, "it has ended", 120)
    with NatsSource(nats_server.credential, stream=stream, consumer="penstock") as source:
        facts = source.consumer_facts()
    left = subscriptions.show(db, PATH)
    assert (left.state, facts.num_ack_pending, left.executions + facts.num_pending) == ("DEACTIVATED", 0, total)
    assert 0 < left.executions < total
    nats_server.delete_stream(stream)


def test_batches_that_fail_again_and_again_are_said_once_and_read_on_when_they_can_be(
    spark: SparkSession, db: Connection, database: str, kafka_broker: Kafka, prefix: str, subscribe: Subscribe
) -> None:
    kafka_broker.add_topic(prefix)
    kafka_broker.publish(prefix, [(None, b"secret", [])])
    subscribe(kafka_broker.credential, source="kafka", topic=prefix, runtime={"trigger_ms": 200})
    db.execute(
        "create function public.refuse() returns trigger language plpgsql as"
        " $$ begin raise exception using errcode = 'PS021', message = 'rows are gone'; end $$"
    )
    db.execute("create trigger refuse before insert on penstock.job_queue execute function public.refuse()")
    failing = (
        "select detail ->> 'error' from penstock.v_subscription_event where happening = 'subscription.query_failing'"
    )
    with Holding(spark, database):
        wait_until(lambda: rows(db, failing) != [], "it is said", 240)
        db.execute("drop trigger refuse on penstock.job_queue")
        wait_until(lambda: subscriptions.show(db, PATH).executions == 1, "it reads on", 240)
    assert rows(db, failing) == [("StagingLost: rows are gone",)]
