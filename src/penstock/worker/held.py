"""The jobs a worker holds: fetched and waiting, running, or ended and not yet reported."""

import time
from collections import deque
from collections.abc import Callable, Iterable
from threading import Condition

from penstock.jobs import Job, Pledge
from penstock.model import Claim


class Held:
    """One job this worker holds a lease of. The same job claimed again is another Held, with another token."""

    __slots__ = ("_kind_timeout_s", "asked_at", "claim", "job", "lease_s", "pledges", "safe_until", "started")

    def __init__(self, claim: Claim, job: Job, asked_at: float, lease_s: float, timeout_s: float) -> None:
        self.claim = claim
        self.job = job
        self.started = claim.started
        self.asked_at = asked_at
        self.safe_until = asked_at + lease_s
        self.lease_s = lease_s
        self.pledges: tuple[Pledge, ...] = ()
        self._kind_timeout_s = timeout_s

    @property
    def timeout_s(self) -> float:
        """Its kind's, or its own if that is shorter: no lease is extended beyond the kind's."""
        own = self.job.timeout_s
        return self._kind_timeout_s if own is None else min(own, self._kind_timeout_s)

    def is_ours(self, now: float) -> bool:
        """Whether the lease certainly lasts, so that a handler may begin under it."""
        return now < self.safe_until

    def confirmed(self, asked_at: float) -> None:
        """A beat has found the lease in order; it extends only those with less than half left."""
        self.safe_until = max(self.safe_until, asked_at + self.lease_s / 2)

    def lost(self) -> None:
        """Cancelled, or another's by now: not to be begun."""
        self.safe_until = 0.0

    def deadline(self, began: float) -> float:
        """When its handler must have ended: after its timeout, and while its lease can still be extended."""
        return min(began + self.timeout_s, self.asked_at + max(self.lease_s, self._kind_timeout_s))


class Shelf:
    """Fetched jobs waiting for a runner. Suspects stand apart: only one of them runs at a time."""

    def __init__(self) -> None:
        self.held: set[Held] = set()
        self._ready: deque[Held] = deque()
        self._suspects: deque[Held] = deque()
        # the suspect that runs, or has run and is not reported yet; and since when
        self._suspect: Held | None = None
        self._suspect_since = 0.0
        self.on_suspects_done: Callable[[], None] = lambda: None
        self._waiting = 0
        self._changed = Condition()

    def __len__(self) -> int:
        return len(self._ready) + len(self._suspects)

    @property
    def ready(self) -> int:
        """How many wait that any free runner may take."""
        return len(self._ready)

    @property
    def wants_suspects(self) -> bool:
        return self._suspect is None and not self._suspects

    def put(self, batch: list[Held]) -> None:
        self.held.update(batch)
        for one in batch:
            (self._suspects if one.claim.suspect else self._ready).append(one)
        if self._waiting:
            with self._changed:
                self._changed.notify(len(batch))

    def await_work(self, timeout_s: float) -> None:
        """Return when there may be a job to take, or when none came in time."""
        if self._ready or self._suspect_waits():
            return
        with self._changed:
            self._waiting += 1
            try:
                if not (self._ready or self._suspect_waits()):
                    self._changed.wait(timeout_s)
            finally:
                self._waiting -= 1

    def take(self) -> Held | None:
        """The next job to run, if there is one."""
        if self._suspect_waits():
            with self._changed:
                if self._suspect_waits():
                    self._suspect = self._suspects.popleft()
                    self._suspect_since = time.monotonic()
                    return self._suspect
        try:
            return self._ready.popleft()
        except IndexError:
            return None

    def take_unstarted(self, limit: int) -> list[Held]:
        """More first attempts that must be started before they run, without waiting."""
        taken: list[Held] = []
        try:
            while len(taken) < limit:
                one = self._ready.popleft()
                if one.started or one.claim.attempt > 1:
                    self._ready.appendleft(one)
                    break
                taken.append(one)
        except IndexError:
            pass
        return taken

    def put_back(self, batch: list[Held]) -> None:
        """Jobs taken and not run, ahead of all others."""
        self._ready.extendleft(reversed(batch))
        with self._changed:
            self._changed.notify(len(batch))

    def take_last(self, keep: int) -> list[Held]:
        """Everything beyond the first `keep` jobs."""
        taken: list[Held] = []
        while len(self) > keep:
            try:
                taken.append(self._ready.pop() if self._ready else self._suspects.pop())
            except IndexError:
                break
        return taken

    def take_stranded(self, patience_s: float) -> list[Held]:
        """Suspects that wait behind one that runs long."""
        taken: list[Held] = []
        if self._suspects and self._suspect is not None and time.monotonic() > self._suspect_since + patience_s:
            with self._changed:
                taken.extend(self._suspects)
                self._suspects.clear()
        return taken

    def forget(self, batch: Iterable[Held]) -> None:
        """These are reported. Only now the next suspect may begin: its end must not take an unreported one along."""
        self.held.difference_update(batch)
        if self._suspect is not None and self._suspect not in self.held:
            with self._changed:
                self._suspect = None
                self._changed.notify()
            if not self._suspects:
                self.on_suspects_done()

    def _suspect_waits(self) -> bool:
        return bool(self._suspects) and self._suspect is None
