"""What a worker says while PostgreSQL does not answer: a line at once, then ever fewer, whichever part notices."""

import math
import time
from collections.abc import Callable
from threading import Lock

import structlog

log = structlog.get_logger("penstock.worker")

_FIRST_PAUSE_S = 2.0
_LONGEST_PAUSE_S = 60.0


class Outage:
    """Shared by all connections of one worker."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._since: float | None = None
        self._is_told = False
        self._pause_s = _FIRST_PAUSE_S
        self._next = -math.inf

    def noticed(self, error: Exception) -> None:
        """A part got no answer."""
        with self._lock:
            now = self._clock()
            is_calm = now > self._next + _LONGEST_PAUSE_S
            if self._since is None or is_calm:
                self._since = now
            if now < self._next:
                return
            # not begun anew with every outage: of a server that comes and goes, not every time is told
            self._pause_s = _FIRST_PAUSE_S if is_calm else min(self._pause_s * 2, _LONGEST_PAUSE_S)
            self._next = now + self._pause_s
            self._is_told = True
        log.warning("no answer from PostgreSQL: trying again", error=str(error).partition("\n")[0])

    def over(self) -> None:
        """A part that got none has got an answer again."""
        with self._lock:
            since, is_told = self._since, self._is_told
            self._since, self._is_told = None, False
        if since is not None and is_told:
            log.info("PostgreSQL answers again", away_s=round(self._clock() - since, 1))
