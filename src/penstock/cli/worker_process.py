"""A worker in a process of its own. It ends with this one, however that ends: its standard input is a pipe of ours."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_COMMAND = ("-m", "penstock.cli.main", "worker", "--while-stdin-open")
_STDERR = 2


class WorkerProcess:
    """Says what it says on our streams, all on our standard error, or in a file."""

    def __init__(
        self, words: Sequence[str], environment: Mapping[str, str], log: Path | None = None, *, on_stderr: bool = False
    ) -> None:
        if log is None:
            self._process = _started(words, environment, _STDERR if on_stderr else None)
        else:
            with log.open("wb") as file:
                self._process = _started(words, environment, file.fileno())

    @property
    def code(self) -> int | None:
        """The code it has ended with; None while it lives."""
        return self._process.poll()

    def ask_to_stop(self) -> None:
        """Asked twice, it does not wait for its handlers any more."""
        self._process.terminate()

    def end(self, deadline_s: float) -> None:
        """Return when it has ended; killed if it has not in time."""
        try:
            self._process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()


def _started(words: Sequence[str], environment: Mapping[str, str], output: int | None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, *_COMMAND, *words],
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=output,
        env=dict(environment),
        # Ctrl-C is for us, and we stop it in order
        start_new_session=True,
    )
