"""`penstock subscribe` as its user meets it, and its trail beside the events of a server with the same messages."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest
from pyspark.sql import SparkSession

from penstock.catalog.entry import read_file
from penstock.credentials import read_credentials
from penstock.embedded import EmbeddedPostgres
from penstock.embedded.postmaster import running
from penstock.kernel import runtimes, subscriptions
from penstock.kernel.connection import Connection, connect
from penstock.kernel.registration import register
from penstock.pipeline.runtime import Runtime
from tests.acceptance.processes import WorkerProcess
from tests.concurrency.sessions import wait_until
from tests.parts.kafka import Kafka
from tests.parts.nats import Nats
from tests.parts.terminal import on_a_terminal, rows_of
from tests.sql.support import configure, value
from tests.unit.embedded.support import reachable_folder

PENSTOCK = Path(sys.executable).parent / "penstock"
PATH = "subscriptions/local"
FUNCTIONS = Path(__file__).with_name("shop_functions.py")
PLAYBOOKS = """\
apiVersion: penstock/v1
kind: Playbook
metadata: {path: shop/process}
workflow: [{step: process, tool: {kind: python, function: "shop_functions:process"}, retry: {max_attempts: 1}}]
---
apiVersion: penstock/v1
kind: Playbook
metadata: {path: shop/long}
workflow:
  - {step: first, tool: {kind: noop}, next: [second, third]}
  - {step: second, tool: {kind: playbook, path: shop/child}}
  - {step: third, tool: {kind: noop}, when: "{{ workload.order > 100 }}"}
---
apiVersion: penstock/v1
kind: Playbook
metadata: {path: shop/child}
workflow: [{step: slow, tool: {kind: python, function: "shop_functions:slow"}}]
---
apiVersion: penstock/v1
kind: Playbook
metadata: {path: shop/unused}
workflow: [{step: a, tool: {kind: noop}}]
"""
SUBSCRIPTION = """\
apiVersion: penstock/v1
kind: Subscription
metadata: {path: subscriptions/local}
spec:
  source: nats
  mode: pull
  stream: STREAM
  consumer: CONSUMER
  auth: main
  dispatch: {playbook: shop/process, payload_from: message.json}
  headers:
    directives:
      - {header: X-Route, controls: dispatch.playbook, allowed: [shop/long]}
      - {header: X-Key, controls: idempotency_key}
  dedup: {window_s: 3600}
"""
MESSAGES: list[tuple[bytes, list[tuple[str, bytes]]]] = [
    *((b'{"order": %d}' % number, []) for number in range(6)),
    (b'{"order": 7}', [("X-Route", b"shop/long")]),
    (b'{"order": 8}', [("X-Route", b"nowhere"), ("X-Key", b"eight")]),
    (b'{"order": 9}', [("X-Key", b"eight")]),
    (b'{"order": ', []),
]
EXPECTED = {"received": 10, "executed": 7, "deduplicated": 1, "dead_lettered": 2, "pending": 0}
LIVE = re.compile(
    r"\S (?:starting|\w+ is starting|Kafka's connector for Spark is being fetched"
    r"|reads · nothing received yet: the first batch takes a while"
    r"|received [\d,]+ · executed [\d,]+ · deduplicated [\d,]+ · dead-lettered [\d,]+ · pending [\d,]+)"
)
_DONE = ("succeeded", "execution_succeeded")
_RUN_S = 300


class Shop:
    """A folder with a subscription and what is beside it, a stream with messages, and a home of its own."""

    def __init__(self, home: Path, server: Nats) -> None:
        self.home = home
        self.server = server
        self.stream = f"S{uuid4().hex[:8]}"
        server.add_stream(self.stream)
        self.folder = home / "shop"
        self.folder.mkdir()
        shutil.copy(FUNCTIONS, self.folder)
        (self.folder / "playbooks.yml").write_text(PLAYBOOKS)
        (self.folder / "notes.yaml").write_text("kind: Playbook\nbut: not a right one\n")
        self.credentials = self.folder / "credentials.yaml"
        self.credentials.write_text(json.dumps({"main": server.credential}))
        self.credentials.chmod(0o600)
        self.trail = self.folder / "trail.jsonl"
        self._started: list[subprocess.Popen[str]] = []

    def subscription(self, consumer: str) -> Path:
        """The file for one consumer of the stream."""
        self.server.add_consumer(self.stream, consumer)
        file = self.folder / "orders.yaml"
        file.write_text(SUBSCRIPTION.replace("STREAM", self.stream).replace("CONSUMER", consumer))
        return file

    def publish(self, messages: list[tuple[bytes, list[tuple[str, bytes]]]]) -> None:
        self.server.publish(f"{self.stream}.a", messages)

    def environment(self) -> dict[str, str]:
        others = {name: one for name, one in os.environ.items() if not name.startswith("PENSTOCK_")}
        ours = {"PENSTOCK_HOME": str(self.home / ".penstock"), "PENSTOCK_CREDENTIALS": str(self.credentials)}
        return others | ours

    def start(self, *words: object) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [PENSTOCK, "subscribe", *map(str, words)],
            env=self.environment(),
            # not the folder with the functions: they are found beside the file
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def run(self, *words: object) -> Any:
        process = self.start(*words, "--json")
        out, err = process.communicate(timeout=_RUN_S)
        assert process.returncode == 0, err
        return json.loads(out)

    def refused(self, file: Path) -> str:
        """What it says, when it must end by itself and with an error."""
        process = self.start(file)
        _, err = process.communicate(timeout=_RUN_S)
        assert process.returncode == 1, err
        return err

    def end(self) -> None:
        """One that a failed test left would read for ever."""
        for process in self._started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def lines(self) -> list[dict[str, Any]]:
        text = self.trail.read_text() if self.trail.exists() else ""
        # the last one may be half written
        return [json.loads(line) for line in text.rpartition("\n")[0].splitlines()]


@pytest.fixture
def shop(nats_server: Nats) -> Iterator[Shop]:
    home = reachable_folder()
    made = Shop(home, nats_server)
    yield made
    made.end()
    nats_server.delete_stream(made.stream)
    with EmbeddedPostgres(home / ".penstock" / "postgres"):
        pass  # the last to leave stops whatever a failed test left
    shutil.rmtree(home)


def _check_nothing_runs(home: Path) -> None:
    assert running(home / ".penstock" / "postgres") is None
    lines = [" ".join(one.info["cmdline"] or []) for one in psutil.process_iter(["cmdline"])]
    assert [line for line in lines if str(home) in line] == []


def _shape(event: dict[str, Any]) -> tuple[Any, ...]:
    """An event's type, and which fields it has; its times, ids and tokens are another run's."""
    detail = event["detail"]
    inner = sorted(detail) if isinstance(detail, dict) else detail
    return event["happening"], event["attempt"], json.dumps(inner), tuple(sorted(event))


def _by_message(events: list[dict[str, Any]], ids: dict[int, str]) -> dict[str, Counter[tuple[Any, ...]]]:
    """What happened to each message, by the id its source gave it; "" is what belongs to none."""
    found: dict[str, Counter[tuple[Any, ...]]] = {}
    for event in events:
        # whether the first batch takes longer than that is the machine's matter
        if event["happening"] == "subscription.stalled":
            continue
        found.setdefault(ids.get(event["execution_id"], ""), Counter())[_shape(event)] += 1
    return found


def _of_trail(lines: list[dict[str, Any]]) -> dict[str, Counter[tuple[Any, ...]]]:
    dispatched = [line for line in lines if line["happening"] == "subscription.message.dispatched"]
    return _by_message(lines, {line["execution_id"]: line["detail"]["message_id"] for line in dispatched})


def _of_server(db: Connection) -> dict[str, Counter[tuple[Any, ...]]]:
    """Everything v_execution_event has of executions, with the path that execution_event keeps."""
    # the job that tells a parent of its child's end is of neither
    rows = db.execute(
        "select to_jsonb(e) from penstock.v_execution_event e where not exists ("
        " select from penstock.job j where j.job_id = e.job_id and j.job_kind = 'tool:child_ended')"
    ).fetchall()
    rows_of_ids = db.execute("select execution_id, message_id from penstock.ingest_message").fetchall()
    ids: dict[int, str] = dict(rows_of_ids)
    return _by_message([row[0] | {"subscription": PATH} for row in rows], ids)


def test_the_trail_of_a_local_run_is_what_a_server_records_of_the_same_messages(
    shop: Shop, spark: SparkSession, db: Connection, database: str, credentials_file: Path, tmp_path: Path
) -> None:
    shop.publish(MESSAGES)
    told = shop.run(shop.subscription("local"), "--once", "--events", shop.trail)
    assert {name: told[name] for name in EXPECTED} == EXPECTED
    _check_nothing_runs(shop.home)

    # a server with a runtime and a worker of its own
    file = shop.subscription("server")
    credentials_file.write_text(json.dumps({"main": shop.server.credential, "penstock_database": {"url": database}}))
    entries = [*read_file(shop.folder / "playbooks.yml"), *read_file(file)]
    register(db, [one for one in entries if one.path != "shop/unused"], read_credentials(credentials_file))
    subscriptions.move(db, PATH, "activate")
    Runtime(spark, database, PATH, once=True).run()
    environment = {"PENSTOCK_DATABASE_URL": database, "PYTHONPATH": str(shop.folder)}
    worker = WorkerProcess([str(PENSTOCK), "worker"], environment, tmp_path / "worker.log")
    try:
        wait_until(lambda: value(db, "select count(*) from penstock.job_queue") == 0, "all have run", 60)
    finally:
        worker.stopped()
    subscriptions.move(db, PATH, "deactivate")

    ours, theirs = _of_trail(shop.lines()), _of_server(db)
    assert sorted(ours) == sorted(theirs)
    for message_id in ours:
        assert ours[message_id] == theirs[message_id], message_id


def test_it_reads_until_ctrl_c_leaves_nothing_running_and_goes_on_the_next_time(shop: Shop) -> None:
    file = shop.subscription("local")
    shop.publish(MESSAGES[:3])
    process = shop.start(file, "--events", shop.trail)
    wait_until(lambda: _ended(shop) == 3, "the first ones have run", _RUN_S)
    with EmbeddedPostgres(shop.home / ".penstock" / "postgres") as server, connect(server.url()) as db:
        assert subscriptions.show(db, PATH).is_running
        shop.publish(MESSAGES[4:6])
        wait_until(lambda: _ended(shop) == 5, "what comes later runs too", 60)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=_RUN_S)
        assert process.returncode == 0, err
        assert "Traceback" not in err
        assert out.splitlines()[:2] == ["received       5", "executed       5"]
        left = subscriptions.show(db, PATH)
        # as it was found: nobody is told that an active one is not read
        assert (left.state, left.is_running) == ("DEACTIVATED", False)
        # while another holds it, it is refused, and nothing is registered
        # for longer than the command takes to start
        configure(db, "subscription.lease_ms", "600000")
        held = runtimes.lease(db, PATH, uuid4())
        assert "held by another runtime" in shop.refused(file)
        runtimes.release(db, PATH, held.token)
        # so it is while somebody wants nobody to read it
        for move in ("activate", "pause"):
            subscriptions.move(db, PATH, move)
        err = shop.refused(file)
        assert ("is paused" in err, "subscription resume" in err) == (True, True), err
        assert subscriptions.show(db, PATH).state == "PAUSED"
        subscriptions.move(db, PATH, "deactivate")
    _check_nothing_runs(shop.home)
    before = shop.trail.read_bytes()
    shop.publish(MESSAGES[6:])
    told = shop.run(file, "--once", "--max-messages", 2, "--events", shop.trail)
    assert (told["received"], told["executed"]) == (2, 2)
    assert shop.trail.read_bytes().startswith(before)
    # of one of the two a step started another
    assert _ended(shop) == 8
    _check_nothing_runs(shop.home)


def _of_topic(shop: Shop, broker: Kafka) -> Path:
    """The same messages in a topic, and the file for it."""
    broker.add_topic(shop.stream)
    broker.publish(shop.stream, [(None, body, headers) for body, headers in MESSAGES])
    shop.credentials.write_text(json.dumps({"main": broker.credential}))
    file = shop.folder / "orders.yaml"
    place = f"source: kafka\n  mode: pull\n  topic: {shop.stream}\n  start: earliest\n"
    file.write_text(re.sub(r"source: nats\n.*\n.*\n.*\n", place, SUBSCRIPTION))
    return file


@pytest.mark.parametrize("source", ["nats", "kafka"])
def test_on_a_terminal_the_line_is_whole_and_a_good_run_shows_no_error(
    source: str, shop: Shop, request: pytest.FixtureRequest
) -> None:
    """Also where more wait than are wanted: what is committed is not given up, and nobody complains of what is left."""
    if source == "kafka":
        file = _of_topic(shop, request.getfixturevalue("kafka_broker"))
    else:
        shop.publish(MESSAGES)
        file = shop.subscription("local")
    command = [str(PENSTOCK), "subscribe", str(file), "--max-messages", "5"]
    code, said = on_a_terminal(command, shop.environment(), shop.home, _RUN_S)
    rows = rows_of(said)
    assert code == 0, rows
    told, *others = [row for row in rows if not LIVE.fullmatch(row)]
    log = shop.home / ".penstock" / "subscribe.log"
    assert str(log) in told
    # what a function prints stands on a row of its own
    assert sorted(others[:5]) == [f"works on {number}" for number in range(5)]
    summary = ["received 5", "executed 4", "deduplicated 0", "dead-lettered 1", "pending 0"]
    assert [" ".join(row.split()) for row in others[5:]] == summary
    assert {"reads · nothing received yet: the first batch takes a while", "Spark is starting"} <= {
        row[2:] for row in rows
    }
    assert ("[spark" in log.read_text(), "working" in log.read_text()) == (False, True)


def _ended(shop: Shop) -> int:
    done = [line["execution_id"] for line in shop.lines() if line["happening"] in _DONE]
    return len(set(done))


def test_what_cannot_be_run_is_said_before_anything_is_started(shop: Shop) -> None:
    file = shop.subscription("local")
    (shop.folder / "playbooks.yml").unlink()
    (shop.folder / "broken.yaml").write_text("kind: Playbook\nmetadata: {path: shop/process}\n")
    # the broken file is why a playbook is missing
    assert "broken.yaml" in shop.refused(file)
    (shop.folder / "broken.yaml").write_text(PLAYBOOKS)
    (shop.folder / "twice.yaml").write_text(PLAYBOOKS.replace("max_attempts: 1", "max_attempts: 2"))
    assert "shop/process stands in" in shop.refused(file)
    assert "expected one subscription in it, found none" in shop.refused(shop.folder / "twice.yaml")
    assert not (shop.home / ".penstock").exists()
