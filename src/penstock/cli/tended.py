"""The worker beside other things: a process of its own, looked after."""

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

import structlog

from penstock.cli.worker_process import WorkerProcess
from penstock.errors import WorkerBroken

log = structlog.get_logger("penstock.up")

# its handlers have 30 s
_STOP_S = 45.0
# on a busy machine it takes long to begin, and to give up
_FIRST_LIFE_S = 60.0
_LONG_LIFE_S = 60.0
_FIRST_WAIT_S = 1.0
_LONGEST_WAIT_S = 30.0


class Tended:
    """A worker process for as long as a block lasts, started again when it ends by itself."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], *, on_stderr: bool = False) -> None:
        self._words = words
        self._environment = environment
        self._on_stderr = on_stderr
        self._process: WorkerProcess | None = None
        self._wait_s = _FIRST_WAIT_S
        self._lives = 0
        self._began = 0.0
        self._again_at: float | None = None

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.ask_to_stop()
        if self._process is not None:
            self._process.end(_STOP_S)

    def ask_to_stop(self) -> None:
        if self._process is not None:
            self._process.ask_to_stop()

    def look(self) -> None:
        """See that it lives. One that gives up as soon as it has begun cannot work here, and that is an error."""
        assert self._process is not None
        code, now = self._process.code, time.monotonic()
        if code is None:
            return
        if self._again_at is None:
            lived_s = now - self._began
            if self._lives == 1 and code > 0 and lived_s < _FIRST_LIFE_S:
                raise WorkerBroken(f"the worker has ended with code {code} as soon as it was started; see what it said")
            self._wait_s = _FIRST_WAIT_S if lived_s > _LONG_LIFE_S else min(2 * self._wait_s, _LONGEST_WAIT_S)
            self._again_at = now + self._wait_s
            log.error("the worker has ended by itself, and is started again", code=code, wait_s=self._wait_s)
        elif now >= self._again_at:
            self._start()

    def _start(self) -> None:
        self._process = WorkerProcess(self._words, self._environment, on_stderr=self._on_stderr)
        self._lives += 1
        self._began, self._again_at = time.monotonic(), None
