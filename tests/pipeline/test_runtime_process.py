"""A runtime as its operator meets it: killed, stopped for too long, replaced."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from penstock.kernel import catalog, subscriptions
from penstock.kernel.connection import Connection
from tests.concurrency.sessions import wait_until
from tests.ingest.support import PATH, PLAYBOOK, playbook
from tests.parts.nats import Nats
from tests.pipeline.holding import staged
from tests.pipeline.processes import RuntimeProcess
from tests.sql.support import configure, value

Launch = Callable[..., RuntimeProcess]
_START_S = 240
_STOP_S = 40


@pytest.fixture
def launch(db: Connection, database: str, nats_server: Nats, tmp_path: Path) -> Launch:
    """Registers a NATS subscription, and starts runtimes of it."""
    playbook(db)
    stream = f"S{uuid4().hex[:8]}"
    nats_server.add_stream(stream)
    nats_server.add_consumer(stream, "penstock", ack_wait=30)
    credentials = tmp_path / "credentials.yaml"
    credentials.write_text(json.dumps({"main": nats_server.credential}))
    credentials.chmod(0o600)
    spec: dict[str, Any] = {
        "source": "nats",
        "mode": "pull",
        "auth": "main",
        "stream": stream,
        "consumer": "penstock",
        "dispatch": {"playbook": PLAYBOOK},
        "runtime": {"trigger_ms": 200},
    }
    content = {"apiVersion": "penstock/v1", "kind": "Subscription", "metadata": {"path": PATH}, "spec": spec}
    catalog.register(db, PATH, "Subscription", content, "")
    subscriptions.move(db, PATH, "activate")
    environment = {
        "PENSTOCK_DATABASE_URL": database,
        "PENSTOCK_CREDENTIALS": str(credentials),
        "PENSTOCK_HOME": str(tmp_path / "home"),
    }

    def start(name: str, *options: str) -> RuntimeProcess:
        return RuntimeProcess(PATH, environment, tmp_path / f"{name}.log", *options)

    start.stream = stream  # type: ignore[attr-defined]
    return start


def _stream(launch: Launch) -> str:
    return str(launch.stream)  # type: ignore[attr-defined]


def _executions(db: Connection) -> int:
    return int(value(db, "select count(distinct source_ref) from penstock.job where subscription = %s", PATH))


def test_a_runtime_stopped_past_its_lease_commits_nothing_when_it_wakes(
    db: Connection, launch: Launch, nats_server: Nats
) -> None:
    configure(db, "subscription.lease_ms", "3000")
    nats_server.publish(f"{_stream(launch)}.a", [(b"1", [])])
    with launch("first") as first:
        wait_until(lambda: _executions(db) == 1, f"the first message is there\n{first.log()}", _START_S)
        nats_server.publish(f"{_stream(launch)}.a", [(b"%d" % n, []) for n in range(3000)])
        wait_until(lambda: staged(db) > 0 or _executions(db) > 1, f"a batch is under way\n{first.log()}", _START_S)
        first.send_all(signal.SIGSTOP)
        wait_until(lambda: not subscriptions.show(db, PATH).is_running, "its lease ends", 60)
        with launch("successor") as successor:
            # what the first had fetched comes again after ack_wait
            wait_until(lambda: _executions(db) == 3001, f"all are there\n{successor.log()}", _START_S)
            first.send_all(signal.SIGCONT)
            assert first.wait(_START_S) == 1
            assert "has been replaced by runtime" in first.log()
            assert successor.end() == 0
    assert value(db, "select count(*) from penstock.job") == 3001


@pytest.mark.long
def test_a_killed_runtime_leaves_nothing_behind_that_its_successor_does_not_finish(
    db: Connection, launch: Launch, nats_server: Nats
) -> None:
    configure(db, "subscription.lease_ms", "2000")
    messages = 3000
    nats_server.publish(f"{_stream(launch)}.a", [(b"%d" % n, []) for n in range(messages)])
    with launch("victim") as victim:
        wait_until(lambda: staged(db) > 0 or _executions(db) > 0, f"a batch is under way\n{victim.log()}", _START_S)
        victim.kill()
    with launch("successor") as successor:
        wait_until(lambda: _executions(db) == messages, f"all are there\n{successor.log()}", _START_S)
        assert successor.end() == 0
    assert value(db, "select count(*) from penstock.job") == messages
    assert subscriptions.show(db, PATH).state == "ACTIVE"


@pytest.mark.parametrize(
    "number", [signal.SIGINT, *(pytest.param(one, marks=pytest.mark.long) for one in (signal.SIGTERM, signal.SIGHUP))]
)
def test_a_signal_to_the_whole_group_ends_a_runtime_in_order(
    number: signal.Signals, db: Connection, launch: Launch, nats_server: Nats
) -> None:
    nats_server.publish(f"{_stream(launch)}.a", [(b"1", [])])
    with launch("first") as first:
        wait_until(lambda: _executions(db) == 1, f"the first message is there\n{first.log()}", _START_S)
        first.send_group(number)
        assert first.wait(_STOP_S) == 0, first.log()
        assert "Traceback" not in first.log()
    left = subscriptions.show(db, PATH)
    assert (left.state, left.lease_until, left.incarnation) == ("ACTIVE", None, None)
