"""The demo's worker processes. They end with the demo, however it ends: their standard input is a pipe it holds."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.errors import PenstockError

_STOP_S = 30
_LOG_LINES = 5
_LOG_WIDTH = 500
_COMMAND = ("-m", "penstock.cli.main", "worker", "--app", "penstock.cli.demo.handlers", "--grace-s", "5")


class Workers:
    def __init__(self, url: str, count: int, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if name != "PENSTOCK_DATABASE"}
        environment["PENSTOCK_DATABASE_URL"] = url
        self._logs = [folder / f"worker-{number}.log" for number in range(1, count + 1)]
        self._processes = [_start(environment, log) for log in self._logs]

    def check(self) -> None:
        """Raise when one of them has ended by itself."""
        for process in self._processes:
            if process.poll() is not None:
                raise self.failure(f"a worker has ended with code {process.returncode}")

    def failure(self, what: str) -> PenstockError:
        ends = [f"the end of {log}:\n{_end(log)}" for log in self._logs]
        return PenstockError("\n".join([what, *ends]))

    def stop(self) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            assert process.stdin is not None
            process.stdin.close()


@contextmanager
def working(url: str, count: int, folder: Path) -> Iterator[Workers]:
    """Run workers for as long as the block lasts."""
    workers = Workers(url, count, folder)
    try:
        yield workers
    finally:
        workers.stop()


def _end(log: Path) -> str:
    return "\n".join(f"  {line[:_LOG_WIDTH]}" for line in log.read_text(errors="replace").splitlines()[-_LOG_LINES:])


def _start(environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, *_COMMAND, "--while-stdin-open"],
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=environment,
            # Ctrl-C is for the demo, which then stops them in order
            start_new_session=True,
        )
