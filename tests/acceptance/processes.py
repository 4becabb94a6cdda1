"""Real `penstock worker` processes: started, watched, paused and killed by pid; none outlives the test."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from tests.parts.processes import die_with_parent

ROOT = Path(__file__).parent.parent.parent
APPS = "tests.acceptance.apps"
PENSTOCK = Path(sys.executable).parent / "penstock"

_LOOK_S = 0.02


def until(condition: Callable[[], object], what: str, deadline_s: float = 60) -> None:
    """Wait for a condition; fail and say what did not come when it is too late."""
    give_up_at = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < give_up_at, f"not within {deadline_s:g} s: {what}"
        time.sleep(_LOOK_S)


class WorkerProcess:
    """One `penstock worker`, its log in a file."""

    def __init__(self, command: list[str], environment: dict[str, str], log: Path) -> None:
        self._log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=os.environ | environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=die_with_parent,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def says(self, text: str, deadline_s: float = 60) -> None:
        """Wait for a piece of its log."""
        until(lambda: text in self.log() or not self.is_alive, f"the worker says {text!r}", deadline_s)
        assert text in self.log(), f"the worker ended and never said {text!r}:\n{self.log()}"

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def terminate(self) -> None:
        self.send(signal.SIGTERM)

    def pause(self) -> None:
        """Stop it, and wait until the kernel says that it stands."""
        self._process.send_signal(signal.SIGSTOP)
        until(lambda: self._state() == "T", f"process {self.pid} stands still")

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def ended(self, deadline_s: float = 60) -> int:
        """Wait for its end; its exit code."""
        try:
            return self._process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the worker did not end within {deadline_s:g} s:\n{self.log()}") from None

    def stopped(self, deadline_s: float = 60) -> int:
        """Ask it to end, and wait for that."""
        self.terminate()
        return self.ended(deadline_s)

    def _state(self) -> str:
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]


class Crew:
    """The workers of one test, and what their handlers noted in a file outside the database."""

    def __init__(self, database: str, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self._workers: list[WorkerProcess] = []
        self._notes = folder / "notes.jsonl"
        self._notes.touch()

    def start(self, app: str, *options: str, ready: bool = True, **environment: str) -> WorkerProcess:
        """Start a worker; with `ready`, wait until it works."""
        command = [str(PENSTOCK), "worker", "--app", f"{APPS}.{app}", *options]
        known = {"PENSTOCK_DATABASE_URL": self._database, "NOTES": str(self._notes), "GATES": str(self._folder)}
        worker = WorkerProcess(command, known | environment, self._folder / f"worker-{len(self._workers)}.log")
        self._workers.append(worker)
        if ready:
            worker.says("working")
        return worker

    def notes(self, what: str | None = None) -> list[dict[str, Any]]:
        """What handlers noted, in the order of writing; only lines of one kind if named."""
        # the last one may be half written
        whole, _, _ = self._notes.read_text().rpartition("\n")
        lines = [json.loads(line) for line in whole.splitlines()]
        return [line for line in lines if what in (None, line["what"])]

    def await_notes(self, what: str, count: int, deadline_s: float = 60) -> None:
        until(lambda: len(self.notes(what)) >= count, f"{count} notes {what!r}", deadline_s)

    def open_gate(self, name: str) -> None:
        """Let the handlers that wait at this gate go on."""
        (self._folder / f"{name}.gate").touch()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.kill()
            if error is not None:
                sys.stderr.write(f"\n--- log of worker {worker.pid}\n{worker.log()[-8000:]}")


@pytest.fixture
def crew(database: str, tmp_path: Path) -> Iterator[Crew]:
    """Starts workers on the test's database; they end with the test. Test modules name it to have it."""
    with Crew(database, tmp_path) as crew:
        yield crew
