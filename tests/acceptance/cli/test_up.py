"""penstock up without a subscription to run: the servers, the worker, and stopping; Spark is not started."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from penstock.embedded import EmbeddedPostgres
from penstock.embedded.nats_server import NatsServer
from penstock.embedded.postmaster import running
from penstock.kernel import executions, jobs
from penstock.kernel.connection import Connection
from tests.acceptance.cli.conftest import DEADLINE_S, Penstock
from tests.acceptance.outcomes import await_end, result
from tests.acceptance.processes import APPS, ROOT
from tests.concurrency.sessions import wait_until
from tests.ingest.support import playbook
from tests.unit.embedded.support import reachable_folder


class Stack:
    """A running `penstock up`, what it says in a file."""

    def __init__(self, penstock: Penstock, log: Path, *options: str) -> None:
        self._log = log
        with log.open("w") as output:
            streams: dict[str, Any] = {"stdout": output, "stderr": subprocess.STDOUT, "start_new_session": True}
            self.process = penstock.start("up", *options, cwd=ROOT, **streams)

    @property
    def said(self) -> str:
        return self._log.read_text()

    def until_said(self, what: str) -> None:
        wait_until(lambda: what in self.said or self.process.poll() is not None, f"{what}\n{self.said}", DEADLINE_S)
        assert what in self.said, self.said

    def worker(self) -> psutil.Process:
        """The worker below it."""
        (found,) = [one for one in psutil.Process(self.process.pid).children() if "worker" in one.cmdline()]
        return found

    def signal(self, number: signal.Signals) -> None:
        os.killpg(self.process.pid, number)


@pytest.fixture
def home() -> Iterator[Path]:
    folder = reachable_folder()
    yield folder
    with EmbeddedPostgres(folder / "postgres"):
        pass  # the last to leave stops whatever a failed test left
    shutil.rmtree(folder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_worker_and_the_embedded_servers_in_order(
    number: signal.Signals, home: Path, tmp_path: Path
) -> None:
    penstock = Penstock(PENSTOCK_HOME=str(home))
    try:
        stack = Stack(penstock, tmp_path / "up.log", "--nats")
        stack.until_said("working")
        stack.until_said("waits for an active subscription to run")
        worker = stack.worker()
        assert NatsServer(home / "nats").running() is not None
        stack.signal(number)
        assert stack.process.wait(DEADLINE_S) == 0, stack.said
        assert not worker.is_running()
        assert (running(home / "postgres"), NatsServer(home / "nats").running()) == (None, None)
        assert "has stopped" in stack.said
        assert "Spark" not in stack.said
    finally:
        penstock.end()


def test_the_embedded_nats_has_a_credential_that_only_its_owner_can_read(home: Path, tmp_path: Path) -> None:
    penstock = Penstock(PENSTOCK_HOME=str(home))
    try:
        stack = Stack(penstock, tmp_path / "up.log", "--nats")
        stack.until_said("waits for an active subscription")
        file = home / "nats.credentials.yaml"
        assert f"export PENSTOCK_CREDENTIALS={file}" in stack.said
        assert file.stat().st_mode & 0o777 == 0o600
        password = NatsServer(home / "nats").password()
        assert password in file.read_text()
        assert password not in stack.said
        stack.signal(signal.SIGTERM)
        assert stack.process.wait(DEADLINE_S) == 0
    finally:
        penstock.end()


def test_the_worker_runs_the_users_handlers_and_is_started_again_when_it_was_killed(
    penstock: Penstock, db: Connection, tmp_path: Path
) -> None:
    penstock.environment["NOTES"] = os.devnull
    stack = Stack(penstock, tmp_path / "up.log", "--app", f"{APPS}.plain", "--concurrency", "2")
    first = jobs.enqueue(db, {"kind": "greet", "safe_payload": {"name": "Ann"}})
    await_end(db, [first])
    assert result(db, first) == {"hello": "Ann"}
    stack.worker().kill()
    stack.until_said("the worker has ended by itself")
    second = jobs.enqueue(db, {"kind": "greet", "safe_payload": {"name": "Bob"}})
    await_end(db, [second])
    stack.signal(signal.SIGTERM)
    assert stack.process.wait(DEADLINE_S) == 0, stack.said


def test_a_worker_that_cannot_begin_ends_it_with_the_workers_own_words(penstock: Penstock, tmp_path: Path) -> None:
    stack = Stack(penstock, tmp_path / "up.log", "--app", "nowhere.to_be_found")
    assert stack.process.wait(DEADLINE_S) == 1
    assert "--app nowhere.to_be_found: there is no module of that name" in stack.said
    assert "the worker has ended with code 1 as soon as it was started" in stack.said
    assert "Traceback" not in stack.said


def test_ctrl_c_lets_a_handler_that_runs_come_to_its_end(penstock: Penstock, db: Connection, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.touch()
    penstock.environment |= {"NOTES": str(notes), "GATES": str(tmp_path)}
    stack = Stack(penstock, tmp_path / "up.log", "--app", f"{APPS}.gated")
    job = jobs.enqueue(db, {"kind": "gated", "safe_payload": {}})
    # a job is running by its claim: only the handler itself knows that it has begun
    wait_until(lambda: "began" in notes.read_text(), "its handler has begun", DEADLINE_S)
    stack.signal(signal.SIGINT)
    stack.until_said("stopping: running handlers may go on")
    (tmp_path / "go.gate").touch()
    assert stack.process.wait(DEADLINE_S) == 0, stack.said
    assert jobs.show(db, job).status == "succeeded"


def test_the_worker_does_not_outlive_one_that_was_killed(penstock: Penstock, tmp_path: Path) -> None:
    stack = Stack(penstock, tmp_path / "up.log")
    stack.until_said("working")
    worker = stack.worker()
    stack.process.kill()
    wait_until(lambda: _has_ended(worker), "the worker ends", 60)


def _has_ended(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_second_signal_ends_it_at_once(penstock: Penstock, db: Connection, tmp_path: Path) -> None:
    playbook(db, "domain/linger", tool={"kind": "python", "function": f"{APPS}.orders:linger"})
    stack = Stack(penstock, tmp_path / "up.log")
    stack.until_said("working")
    job, _ = executions.execute(db, {"playbook": "domain/linger"})
    wait_until(lambda: jobs.show(db, job).status == "running", "a long job runs")
    stack.signal(signal.SIGTERM)
    stack.until_said("stopping: running handlers may go on")
    stack.signal(signal.SIGTERM)
    assert stack.process.wait(10) == 128 + signal.SIGTERM


def test_a_database_that_is_not_migrated_is_refused(penstock: Penstock, db: Connection, tmp_path: Path) -> None:
    db.execute("drop schema penstock cascade")
    stack = Stack(penstock, tmp_path / "up.log")
    assert stack.process.wait(DEADLINE_S) == 1
    assert "penstock migrate" in stack.said
