"""The demo's worker processes, and the files they write to."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.cli.worker_process import WorkerProcess
from penstock.errors import PenstockError

_STOP_S = 30
_LOG_LINES = 5
_LOG_WIDTH = 500
_WORDS = ("--app", "penstock.cli.demo.handlers", "--grace-s", "5")


class Workers:
    def __init__(self, url: str, count: int, folder: Path, credentials: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if name != "PENSTOCK_DATABASE"}
        environment |= {"PENSTOCK_DATABASE_URL": url, "PENSTOCK_CREDENTIALS": str(credentials)}
        self._logs = [folder / f"worker-{number}.log" for number in range(1, count + 1)]
        self._processes = [WorkerProcess(_WORDS, environment, log) for log in self._logs]

    def check(self) -> None:
        """Raise when one of them has ended by itself."""
        for process in self._processes:
            if process.code is not None:
                raise self.failure(f"a worker has ended with code {process.code}")

    def failure(self, what: str) -> PenstockError:
        ends = [f"the end of {log}:\n{_end(log)}" for log in self._logs]
        return PenstockError("\n".join([what, *ends]))

    def stop(self) -> None:
        for process in self._processes:
            process.ask_to_stop()
        for process in self._processes:
            process.end(_STOP_S)


@contextmanager
def working(url: str, count: int, folder: Path, credentials: Path) -> Iterator[Workers]:
    """Run workers for as long as the block lasts."""
    workers = Workers(url, count, folder, credentials)
    try:
        yield workers
    finally:
        workers.stop()


def _end(log: Path) -> str:
    return "\n".join(f"  {line[:_LOG_WIDTH]}" for line in log.read_text(errors="replace").splitlines()[-_LOG_LINES:])
