"""Which deliveries may go now: a receiver that hangs must not take all runners from the others."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from penstock.jobs import Snooze

_QUICK_S = 0.5
_SHORTEST_S = 0.1
_LONGEST_S = 300


class _Route:
    def __init__(self) -> None:
        self.running: dict[object, float] = {}
        self.pace_s: float | None = None
        # when the next one that is put off comes back
        self.next_at = 0.0

    def takes_s(self, now: float) -> float:
        """How long one takes; while none has ended, at least as long as the first has lasted."""
        if self.pace_s is not None:
            return self.pace_s
        return max((now - began for began in self.running.values()), default=0.0)

    def is_quick(self, now: float) -> bool:
        return (
            self.pace_s is not None
            and self.pace_s < _QUICK_S
            and all(now - began < _QUICK_S for began in self.running.values())
        )


class Turns:
    """A quick receiver may have every runner; all others together half of them, and one that was never tried one more.

    Of that half, each route leaves half to the next. With two runners or more, one is always left to other work.
    """

    def __init__(self, runners: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._runners = runners
        self._clock = clock
        self._lock = Lock()
        self._routes: dict[str, _Route] = {}

    @contextmanager
    def taken(self, route: str) -> Iterator[None]:
        """One delivery's turn; raises Snooze when it has to come later."""
        turn = object()
        with self._lock:
            own = self._routes.setdefault(route, _Route())
            self._admit(own)
            began = own.running[turn] = self._clock()
        try:
            yield
        finally:
            with self._lock:
                del own.running[turn]
                took = self._clock() - began
                own.pace_s = took if own.pace_s is None else own.pace_s + 0.2 * (took - own.pace_s)

    def _admit(self, own: _Route) -> None:
        now = self._clock()
        if own.is_quick(now):
            own.next_at = now
            return
        slow = sum(len(route.running) for route in self._routes.values() if not route.is_quick(now))
        is_first = own.pace_s is None and not own.running
        if is_first and slow < max(1, self._runners - 1):
            return
        half = max(1, self._runners // 2)
        room = max(1, (half - (slow - len(own.running))) // 2)
        if len(own.running) >= room or slow >= half:
            # each comes back when it may be its turn: many that wait are not all asked again and again
            own.next_at = max(own.next_at, now) + own.takes_s(now) / room
            raise Snooze(max(min(own.next_at - now, _LONGEST_S * random.uniform(0.5, 1)), _SHORTEST_S))
