"""From Pub/Sub through Spark to committed executions."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
from google.pubsub_v1 import types
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.errors import DataLoss, SourceMissing
from penstock.kernel import subscriptions
from penstock.kernel.connection import Connection, connect
from penstock.pipeline.runtime import Runtime
from penstock.sources.pubsub import PubsubSource
from tests.concurrency.sessions import wait_until
from tests.ingest.support import PATH, PLAYBOOK
from tests.parts.pubsub import Pubsub
from tests.parts.slow import Slow
from tests.pipeline import subscribing
from tests.pipeline.older import as_of_an_older_copy
from tests.pipeline.subscribing import Subscribe
from tests.sql.support import rows, value

DIRECTIVES = [
    {"header": "X-Route", "controls": "dispatch.playbook", "allowed": ["domain/fraud"]},
    {"header": "X-Pool", "controls": "dispatch.execution_pool", "allowed": ["priority"]},
    {"header": "X-Key", "controls": "idempotency_key"},
]
COMMIT_WAITS = (
    "select count(*) from pg_stat_activity where datname = current_database()"
    " and application_name = 'penstock commit' and wait_event_type = 'Lock'"
)
QUICK = {"timeout_ms": 500, "trigger_ms": 100}

subscribe = subscribing.subscribe


@pytest.fixture
def name(pubsub_server: Pubsub) -> str:
    made = f"s-{uuid4().hex[:8]}"
    pubsub_server.add(made)
    return made


def _whole(name: str) -> str:
    return f"projects/penstock/subscriptions/{name}"


def _once(spark: SparkSession, database: str) -> str:
    return Runtime(spark, database, PATH, once=True).run()


def test_a_server_that_counts_anew_gives_ids_again_and_its_messages_are_new(
    spark: SparkSession, db: Connection, database: str, subscribe: Subscribe, tmp_path: Path
) -> None:
    for nth in (1, 2):
        folder = tmp_path / str(nth)
        folder.mkdir()
        with Pubsub(folder) as server:
            server.add("again")
            server.publish("again", [(b"%d" % nth, {}, "")] * 3)
            subscribe(server.credential, source="pubsub", subscription=_whole("again"), runtime=QUICK)
            _once(spark, database)
            assert server.unsettled("again") == []
    assert subscriptions.show(db, PATH).executions == 6
    assert value(db, "select count(distinct message_id) from penstock.ingest_message") == 3


def test_messages_of_pubsub_become_executions_once(
    spark: SparkSession, db: Connection, database: str, pubsub_server: Pubsub, name: str, subscribe: Subscribe
) -> None:
    subscribe(
        pubsub_server.credential,
        source="pubsub",
        subscription=_whole(name),
        dispatch={"playbook": PLAYBOOK, "payload_from": "message.json"},
        headers={"directives": DIRECTIVES},
        dedup={"window_s": 3600},
        runtime=QUICK,
    )
    plain = [(b'{"n": %d}' % n, {"X-A": "1"}, "") for n in range(600)]
    routed = [
        (b"{}", {"x-route": "domain/fraud", "x-pool": "priority"}, ""),
        (b"{}", {"x-route": "domain/secret"}, ""),
    ]
    twice = [(b"{}", {"x-key": "one"}, "")] * 2
    pubsub_server.publish(name, [*plain, *routed, *twice, (b"{", {}, "")])
    _once(spark, database)
    one = subscriptions.show(db, PATH)
    assert (one.received, one.executions, one.deduplicated, one.dead_lettered) == (605, 603, 1, 1)
    assert rows(db, "select playbook_ref, pool, count(*) from penstock.v_execution group by 1, 2 order by 1") == [
        ("domain/fraud@1", "priority", 1),
        (f"{PLAYBOOK}@1", "subscription", 602),
    ]
    assert value(db, "select count(distinct message_id) from penstock.ingest_message") == 603
    pubsub_server.publish(name, [(b"{}", {}, "")])
    _once(spark, database)
    assert (subscriptions.show(db, PATH).executions, subscriptions.show(db, PATH).replays) == (604, 0)


def test_all_messages_come_over_a_slow_network_at_their_first_delivery(
    spark: SparkSession, db: Connection, database: str, pubsub_server: Pubsub, name: str, subscribe: Subscribe
) -> None:
    pubsub_server.publish(name, [(b"x", {}, "")] * 1300)
    with Slow(pubsub_server.address, 0.15) as slow:
        subscribe({"emulator": slow.address}, source="pubsub", subscription=_whole(name), runtime=QUICK)
        _once(spark, database)
    assert (subscriptions.show(db, PATH).executions, pubsub_server.unsettled(name)) == (1300, [])
    assert {one.deliveries for one in pubsub_server.messages(name)} == {1}


def _pubsub(pubsub_server: Pubsub, subscribe: Subscribe, name: str, **spec: Any) -> None:
    subscribe(
        pubsub_server.credential,
        **{"source": "pubsub", "subscription": _whole(name), "ack_deadline_s": 30, "runtime": QUICK} | spec,
    )


@contextmanager
def _running(spark: SparkSession, database: str) -> Iterator[Runtime]:
    runtime = Runtime(spark, database, PATH)
    thread = Thread(target=runtime.run)
    thread.start()
    try:
        yield runtime
    finally:
        runtime.stop.set()
        thread.join(60)


def test_an_idle_subscription_makes_no_batches_and_a_message_is_read_when_it_comes(
    spark: SparkSession, db: Connection, database: str, pubsub_server: Pubsub, name: str, subscribe: Subscribe
) -> None:
    _pubsub(pubsub_server, subscribe, name)
    with _running(spark, database):
        wait_until(lambda: bool(spark.streams.active), "the query runs", 60)
        (query,) = spark.streams.active
        pubsub_server.publish(name, [(b"x", {}, "")])
        wait_until(lambda: subscriptions.show(db, PATH).executions == 1, "it is an execution", 60)
        pubsub_server.publish(name, [(b"x", {}, "")])
        wait_until(lambda: subscriptions.show(db, PATH).executions == 2, "the next one too", 60)
        wait_until(lambda: not pubsub_server.unsettled(name), "both are acknowledged", 60)
        wait_until(lambda: _batches(query) >= 2, "Spark has told of both", 60)
        assert _batches(query) == 2
    assert [one.deliveries for one in pubsub_server.messages(name)] == [1, 1]


def test_a_handle_that_has_expired_by_the_commit_makes_no_second_execution(
    spark: SparkSession, db: Connection, database: str, pubsub_server: Pubsub, name: str, subscribe: Subscribe
) -> None:
    _pubsub(pubsub_server, subscribe, name)
    with connect(database) as other, _running(spark, database):
        wait_until(lambda: bool(spark.streams.active), "the query runs", 60)
        other.execute("begin")
        other.execute("select from penstock.subscription_runtime where path = %s for update", [PATH])
        ids = pubsub_server.publish(name, [(b"%d" % number, {}, "") for number in range(5)])
        wait_until(lambda: value(db, COMMIT_WAITS) == 1, "a commit waits", 60)
        # as if its time were over: the server hands them out again, and the handles we hold are worth nothing
        pubsub_server.expire(_whole(name), [f"{id}:1" for id in ids])
        other.execute("commit")
        wait_until(lambda: subscriptions.show(db, PATH).replays == 5, "they come again, and are known", 60)
        wait_until(lambda: not pubsub_server.unsettled(name), "they are acknowledged the second time", 60)
    assert subscriptions.show(db, PATH).executions == 5


def test_a_server_that_falls_away_is_said_once_and_read_on_when_it_is_back(
    spark: SparkSession, db: Connection, database: str, pubsub_server: Pubsub, name: str, subscribe: Subscribe
) -> None:
    _pubsub(pubsub_server, subscribe, name)
    pubsub_server.publish(name, [(b"before", {}, "")])
    with _running(spark, database):
        wait_until(lambda: subscriptions.show(db, PATH).executions == 1, "the first is an execution", 60)
        # else it comes again when the server is back
        wait_until(lambda: not pubsub_server.unsettled(name), "it is acknowledged", 60)
        pubsub_server.shut()
        try:
            wait_until(lambda: "source_unavailable" in _happened(db), "it is said", 60)
        finally:
            pubsub_server.open()
        pubsub_server.publish(name, [(b"after", {}, "")])
        wait_until(lambda: subscriptions.show(db, PATH).executions == 2, "what came meanwhile is read", 120)
    assert (_happened(db).count("source_unavailable"), _happened(db).count("source_recovered")) == (1, 1)
    assert subscriptions.show(db, PATH).replays == 0


def test_messages_of_an_ordering_key_are_a_lane_in_the_order_they_were_published(
    spark: SparkSession, db: Connection, database: str, pubsub_server: Pubsub, subscribe: Subscribe
) -> None:
    name = f"s-{uuid4().hex[:8]}"
    pubsub_server.add(name, enable_message_ordering=True)
    _pubsub(pubsub_server, subscribe, name, lanes="ordering_key")
    odd = ["k" * 1024, "a\x00b"]
    pubsub_server.publish(name, [(b"%d" % number, {}, f"device-{number % 2}") for number in range(6)])
    pubsub_server.publish(name, [(b"-", {}, key) for key in ["", *odd]])
    _once(spark, database)
    lanes = rows(
        db,
        "select lane, convert_from(m.body, 'UTF8') from penstock.job j join penstock.ingest_message m"
        " on m.execution_id = j.job_id where lane like '%%device%%' order by lane, job_id",
    )
    assert lanes == [(f"{PATH}:device-{number % 2}", str(number)) for number in (0, 2, 4, 1, 3, 5)]
    named = {f"{PATH}:sha256={sha256(key.encode()).hexdigest()}" for key in odd}
    assert {lane for (lane,) in rows(db, "select lane from penstock.job where lane like '%%sha256%%'")} == named
    assert value(db, "select count(*) from penstock.job where lane is null") == 1
    ready = "select count(*) from penstock.job_queue where status = 'ready'"
    assert value(db, ready) == 5


def test_the_delivery_attempt_reaches_the_playbook_and_unknown_subscriptions_are_named(
    spark: SparkSession, db: Connection, database: str, pubsub_server: Pubsub, subscribe: Subscribe
) -> None:
    name = f"s-{uuid4().hex[:8]}"
    letters = types.DeadLetterPolicy(dead_letter_topic=pubsub_server.add_topic("letters"), max_delivery_attempts=9)
    pubsub_server.add(name, dead_letter_policy=letters)
    pubsub_server.publish(name, [(b"x", {}, "")])
    with PubsubSource(pubsub_server.credential, subscription=_whole(name)) as other:
        other.give_back([one.ack for one in other.fetch(1, 10)])
    _pubsub(pubsub_server, subscribe, name)
    _once(spark, database)
    assert rows(db, "select delivery_attempt from penstock.ingest_message") == [(2,)]
    _pubsub(pubsub_server, subscribe, "nowhere-at-all")
    with pytest.raises(SourceMissing, match="gcloud pubsub subscriptions create nowhere-at-all"):
        _once(spark, database)


@pytest.mark.parametrize("retains", [True, False])
def test_a_restored_older_database_is_noticed_by_the_mark(
    spark: SparkSession, db: Connection, database: str, pubsub_server: Pubsub, subscribe: Subscribe, retains: bool
) -> None:
    name = f"s-{uuid4().hex[:8]}"
    pubsub_server.add(name, retain_acked_messages=retains, labels={"team": "shop"})
    _pubsub(pubsub_server, subscribe, name, restore_mark=True)
    pubsub_server.publish(name, [(b"%d" % n, {}, "") for n in range(40)])
    _once(spark, database)
    batches = subscriptions.show(db, PATH).batches
    (last,) = rows(db, "select max(source_offset) from penstock.ingest_message")[0]
    pubsub_server.publish(name, [(b"%d" % n, {}, "") for n in range(40, 60)])
    _once(spark, database)
    mark = f"{value(db, 'select ledger from penstock.subscription_runtime')}_{batches + 1}"
    assert pubsub_server.labels(_whole(name)) == {"team": "shop", "penstock_batch": mark}
    as_of_an_older_copy(db, last, batches)
    happened = "select happening from penstock.v_subscription_event where happening ~ 'read_again|data_loss'"
    if retains:
        _once(spark, database)
        assert value(db, "select count(*) from penstock.job") == 60
        assert value(db, "select count(distinct source_ref) from penstock.job") == 60
        assert rows(db, happened) == [("subscription.read_again",)]
    else:
        for _ in range(2):
            with pytest.raises(DataLoss, match="acknowledged_beyond_the_ledger"):
                _once(spark, database)
        assert set(rows(db, happened)) == {("subscription.data_loss_refused",)}
        _pubsub(pubsub_server, subscribe, name, restore_mark=True, on_data_loss="skip_and_record")
        for _ in range(2):
            _once(spark, database)
        assert [one for (one,) in rows(db, happened)].count("subscription.data_loss") == 1


@pytest.mark.parametrize(("retains", "mark"), [(True, "500"), (False, "f4a1b6c2-0000-4000-8000-000000000000_500")])
def test_the_mark_of_another_database_is_no_mark(
    spark: SparkSession,
    db: Connection,
    database: str,
    pubsub_server: Pubsub,
    subscribe: Subscribe,
    retains: bool,
    mark: str,
) -> None:
    name = f"s-{uuid4().hex[:8]}"
    whole = pubsub_server.add(name, retain_acked_messages=retains, labels={"penstock_batch": mark})
    pubsub_server.publish(name, [(b"done elsewhere", {}, "")] * 5)
    with PubsubSource(pubsub_server.credential, subscription=whole) as elsewhere:
        elsewhere.acknowledge([one.ack for one in elsewhere.fetch(10, 10)])
    _pubsub(pubsub_server, subscribe, name, restore_mark=True)
    for _ in range(2):
        _once(spark, database)
    assert subscriptions.show(db, PATH).executions == 0
    pubsub_server.publish(name, [(b"new", {}, "")])
    _once(spark, database)
    assert subscriptions.show(db, PATH).executions == 1
    assert pubsub_server.labels(whole)["penstock_batch"].endswith("_1")


def test_a_copy_from_before_the_first_batch_is_noticed_too(
    spark: SparkSession, db: Connection, database: str, pubsub_server: Pubsub, subscribe: Subscribe
) -> None:
    name = f"s-{uuid4().hex[:8]}"
    pubsub_server.add(name, retain_acked_messages=True)
    _pubsub(pubsub_server, subscribe, name, restore_mark=True)
    pubsub_server.publish(name, [(b"%d" % n, {}, "") for n in range(5)])
    _once(spark, database)
    as_of_an_older_copy(db, 0, 0)
    db.execute("delete from penstock.ingest_position")
    db.execute("update penstock.subscription_runtime set begun = false")
    assert value(db, "select count(*) from penstock.job") == 0
    _once(spark, database)
    assert value(db, "select count(*) from penstock.job") == 5


def _batches(query: StreamingQuery) -> int:
    last = query.lastProgress
    return 0 if last is None else int(last["batchId"]) + 1


def _happened(db: Connection) -> list[str]:
    return [one.happening.removeprefix("subscription.") for one in subscriptions.history(db, PATH)]
