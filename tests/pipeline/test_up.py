"""`penstock up` as its operator meets it: several subscriptions in one Spark application, with a worker."""

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from penstock.kernel import catalog, runtimes, subscriptions
from penstock.kernel.connection import Connection
from tests.concurrency.sessions import wait_until
from tests.ingest.support import PLAYBOOK, playbook, subscription
from tests.parts.nats import Nats
from tests.pipeline.processes import StackProcess
from tests.sql.support import configure, value

Up = Callable[..., StackProcess]
_START_S = 240
_SOON_S = 60
_STOP_S = 60


class Streams:
    """Subscriptions, each to a NATS stream of its own."""

    def __init__(self, db: Connection, server: Nats) -> None:
        self._db = db
        self._server = server
        self._streams: dict[str, str] = {}
        playbook(db)

    def subscribe(self, path: str, **more: Any) -> None:
        """Register a version, and activate it."""
        if path not in self._streams:
            self._streams[path] = f"S{uuid4().hex[:8]}"
            self._server.add_stream(self._streams[path])
            self._server.add_consumer(self._streams[path], "penstock", ack_wait=30)
        spec = {
            "source": "nats",
            "mode": "pull",
            "auth": "main",
            "stream": self._streams[path],
            "consumer": "penstock",
            "dispatch": {"playbook": PLAYBOOK},
            "runtime": {"trigger_ms": 200},
            **more,
        }
        content = {"apiVersion": "penstock/v1", "kind": "Subscription", "metadata": {"path": path}, "spec": spec}
        catalog.register(self._db, path, "Subscription", content, "")
        subscriptions.move(self._db, path, "activate")

    def publish(self, path: str, count: int) -> None:
        self._server.publish(f"{self._streams[path]}.a", [(b"%d" % n, []) for n in range(count)])

    def succeeded(self, path: str) -> int:
        query = "select count(*) from penstock.v_execution where subscription = %s and status = 'succeeded'"
        return int(value(self._db, query, path))


@pytest.fixture
def streams(db: Connection, nats_server: Nats) -> Streams:
    return Streams(db, nats_server)


@pytest.fixture
def up(database: str, nats_server: Nats, tmp_path: Path) -> Up:
    credentials = tmp_path / "credentials.yaml"
    credentials.write_text(json.dumps({"main": nats_server.credential}))
    credentials.chmod(0o600)
    environment = {
        "PENSTOCK_DATABASE_URL": database,
        "PENSTOCK_CREDENTIALS": str(credentials),
        "PENSTOCK_HOME": str(tmp_path / "home"),
    }
    return lambda *options: StackProcess(environment, tmp_path / "up.log", *options)


def _until(stack: StackProcess, condition: Callable[[], bool], what: str, deadline_s: float = _SOON_S) -> None:
    try:
        wait_until(condition, what, deadline_s)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{stack.log()}") from error


def test_active_ones_run_until_ctrl_c_and_one_activated_later_too(db: Connection, streams: Streams, up: Up) -> None:
    streams.subscribe("first")
    streams.publish("first", 50)
    with up() as stack:
        _until(stack, lambda: streams.succeeded("first") == 50, "the first one's messages ran", _START_S)
        streams.subscribe("second")
        streams.publish("second", 20)
        _until(stack, lambda: streams.succeeded("second") == 20, "the second one's messages ran")
        subscriptions.move(db, "first", "drain")
        _until(stack, lambda: subscriptions.show(db, "first").state == "DEACTIVATED", "the first one is drained")
        streams.publish("second", 10)
        _until(stack, lambda: streams.succeeded("second") == 30, "the second one goes on")
        stack.send_group(signal.SIGINT)
        assert stack.wait(_STOP_S) == 0, stack.log()
        assert stack.log().count("Spark is starting") == 1
        assert "Traceback" not in stack.log()
    left = subscriptions.show(db, "second")
    assert (left.state, left.lease_until) == ("ACTIVE", None)
    # the worker has said goodbye
    assert value(db, "select count(*) from penstock.queue_heartbeat") == 0


def test_one_that_cannot_run_is_said_once_and_stops_no_other(db: Connection, streams: Streams, up: Up) -> None:
    # longer than Spark takes to start
    configure(db, "subscription.lease_ms", "600000")
    streams.subscribe("bad", start="ledger")
    streams.subscribe("held")
    streams.subscribe("good")
    for path in ("bad", "held", "good"):
        streams.publish(path, 5)
    other = runtimes.lease(db, "held", uuid4())
    with up() as stack:
        _until(stack, lambda: "start is ledger, and the ledger is empty" in stack.log(), "bad has ended", _START_S)
        _until(stack, lambda: "waits until its place is free" in stack.log(), "held waits")
        _until(stack, lambda: streams.succeeded("good") == 5, "the good one ran", _START_S)
        runtimes.release(db, "held", other.token)
        _until(stack, lambda: streams.succeeded("held") == 5, "the held one runs once its place is free")
        assert stack.log().count("start is ledger, and the ledger is empty") == 1
        streams.subscribe("bad")
        _until(stack, lambda: streams.succeeded("bad") == 5, "the bad one runs once it was registered anew")
        subscription(db, "kafka", auth="main")
        _until(stack, lambda: "started without Kafka's connector" in stack.log(), "Spark cannot read Kafka any more")
        assert stack.end(_STOP_S) == 0, stack.log()
    assert {one.lease_until for one in subscriptions.listed(db)} == {None}


def test_a_scheduled_one_is_drained_by_the_clock_and_a_jvm_that_dies_ends_it_with_words(
    db: Connection, streams: Streams, up: Up
) -> None:
    streams.subscribe("clocked", activation="scheduled", cadence="0 0 1 1 *")
    streams.publish("clocked", 5)
    with up() as stack:
        _until(stack, lambda: "runs clocked" in stack.log(), "it is looked after", _START_S)
        db.execute("update penstock.schedule set next_run_at = now()")
        _until(stack, lambda: streams.succeeded("clocked") == 5, "it was drained", _START_S)
        subscriptions.move(db, "clocked", "deactivate")
        _until(stack, lambda: "waits for an active subscription" in stack.log(), "it is not looked after any more")
        # longer than anybody waits
        configure(db, "subscription.lease_ms", "600000")
        streams.subscribe("next")
        _until(stack, lambda: subscriptions.show(db, "next").is_running, "it is held")
        _until(stack, lambda: re.search("reads .*subscription=next", stack.log()) is not None, "it reads")
        jvm = stack.jvm()
        assert jvm is not None
        jvm.kill()
        assert stack.wait(_STOP_S) == 1, stack.log()
        assert "Spark's JVM has ended by itself" in stack.log()
    left = subscriptions.show(db, "next")
    assert (left.state, left.lease_until) == ("ACTIVE", None)
