"""What is done after a result is kept, or lost: in threads of its own, since a slow broker must hold up no report."""

import random
import time
from collections import deque
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from threading import Condition

import structlog

from penstock.errors import DatabaseUnavailable, SourceUnavailable
from penstock.jobs import Pledge
from penstock.worker.held import Held

log = structlog.get_logger("penstock.worker")

THREADS = 4
_MOST_WAITING = 1000
# what may be well again with the next try; a handle that has expired by then is another error
_PASSING = (SourceUnavailable, DatabaseUnavailable, TimeoutError)
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 15.0
_LAST_PAUSE_S = 1.0
_PATIENCE_S = 600.0


@dataclass(order=True)
class _Due:
    """What one job's step owes: `owed`, and then `always`, for which others wait."""

    at: float
    job_id: int
    until: float = field(compare=False)
    owed: list[Pledge] = field(compare=False)
    always: list[Pledge] = field(compare=False)
    is_kept: bool = field(compare=False)
    pause_s: float = field(default=_FIRST_PAUSE_S, compare=False)
    error: Exception | None = field(default=None, compare=False)


class Afterwards:
    """What is owed for a result that was kept is tried again while its source is away; what is not, once at most.

    One that stays undone is told to the log.
    """

    def __init__(self, patience_s: float = _PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._waiting: deque[_Due] = deque()
        # those whose source was away, by when they are tried again
        self._again: list[_Due] = []
        self._changed = Condition()
        self._closing = False
        self._given_up = False

    def kept(self, held: Held) -> None:
        self._put(held, is_kept=True)

    def lost(self, held: Held) -> None:
        if held.pledges:
            self._put(held, is_kept=False)

    def close(self) -> None:
        """Do what is left, what was put off now, then end the threads."""
        with self._changed:
            self._closing = True
            for due in self._again:
                due.at, due.pause_s = 0.0, _FIRST_PAUSE_S
            heapify(self._again)
            self._changed.notify_all()

    def give_up(self) -> None:
        """Leave undone what is left: each thread ends with what it has in its hands."""
        with self._changed:
            self._closing = self._given_up = True
            left = [*self._waiting, *self._again]
            self._waiting.clear()
            self._again.clear()
            self._changed.notify_all()
        for due in left:
            # those that wait for it need not: the connections that hold it are closed next
            self._tell(due, due.error or "the worker ends")

    def run(self) -> None:
        """One of the threads."""
        while (due := self._next()) is not None:
            due.owed = [one for one in due.owed if not self._is_settled(one, due)]
            if not due.owed or not self._put_off(due):
                self._end(due)

    def _put(self, held: Held, *, is_kept: bool) -> None:
        pledges, held.pledges = held.pledges, ()
        owed = [one for one in reversed(pledges) if not one.always]
        always = [one for one in reversed(pledges) if one.always]
        now = time.monotonic()
        due = _Due(now, held.claim.job_id, now + self._patience_s, owed, always, is_kept)
        with self._changed:
            if has_room := len(self._waiting) < _MOST_WAITING:
                self._waiting.append(due)
                self._changed.notify()
        if not has_room:
            due.error = OverflowError("too much is waiting to be done")
            self._end(due)

    def _next(self) -> _Due | None:
        """Those never tried come first: a source that is away must not hold up another's."""
        with self._changed:
            while True:
                if self._waiting:
                    return self._waiting.popleft()
                left_s = self._again[0].at - time.monotonic() if self._again else None
                if left_s is not None and left_s <= 0:
                    return heappop(self._again)
                if left_s is None and self._closing:
                    return None
                self._changed.wait(left_s)

    def _is_settled(self, pledge: Pledge, due: _Due) -> bool:
        """Done, or never to be."""
        try:
            (pledge.kept if due.is_kept else pledge.lost)()
        except Exception as error:
            # what was lost comes again by itself, and may be somebody else's by the next try
            if due.is_kept and not pledge.always and isinstance(error, _PASSING):
                due.error = error
                return False
            self._tell(due, error)
        return True

    def _put_off(self, due: _Due) -> bool:
        """Whether it is to be tried again."""
        with self._changed:
            now = time.monotonic()
            if self._given_up or now >= due.until or len(self._again) >= _MOST_WAITING:
                return False
            if due.pause_s == _FIRST_PAUSE_S:
                log.info("not done yet: to be tried again", job=due.job_id, error=str(due.error))
            due.at = now + due.pause_s * random.uniform(0.5, 1)
            due.pause_s = min(due.pause_s * 2, _LAST_PAUSE_S if self._closing else _LONGEST_PAUSE_S)
            heappush(self._again, due)
            self._changed.notify()
        return True

    def _end(self, due: _Due) -> None:
        """Whatever is still owed stays undone."""
        if due.owed:
            self._tell(due, due.error or "")
        for one in due.always:
            self._is_settled(one, due)

    def _tell(self, due: _Due, error: object) -> None:
        what = "left undone after the result was kept" if due.is_kept else "left undone"
        log.warning(what, job=due.job_id, error=str(error))
