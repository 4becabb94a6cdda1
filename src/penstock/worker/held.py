"""The jobs a worker holds: fetched and waiting, running, or ended and not yet reported."""

from collections import deque
from threading import Condition

from penstock.jobs import Job
from penstock.model import Claim


class Held:
    """One job this worker holds a lease of."""

    __slots__ = ("claim", "confirmed_at", "job", "lease_s", "lost", "started", "timeout_s")

    def __init__(self, claim: Claim, job: Job, confirmed_at: float, lease_s: float, timeout_s: float) -> None:
        self.claim = claim
        self.job = job
        self.started = claim.started
        self.confirmed_at = confirmed_at
        self.lease_s = lease_s
        self.timeout_s = timeout_s
        self.lost = False

    def is_ours(self, now: float) -> bool:
        """Whether the lease was confirmed recently enough to run a handler under it."""
        return not self.lost and now < self.confirmed_at + self.lease_s


class Shelf:
    """Fetched jobs waiting for a runner. Suspects stand apart: only one of them runs at a time."""

    def __init__(self) -> None:
        self.held: dict[int, Held] = {}
        self._ready: deque[Held] = deque()
        self._suspects: deque[Held] = deque()
        self._suspect_runs = False
        self._waiting = 0
        self._changed = Condition()

    def __len__(self) -> int:
        return len(self._ready) + len(self._suspects)

    @property
    def waiting_runners(self) -> int:
        return self._waiting

    def put(self, batch: list[Held]) -> None:
        for one in batch:
            self.held[one.claim.job_id] = one
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
                    self._suspect_runs = True
                    return self._suspects.popleft()
        try:
            return self._ready.popleft()
        except IndexError:
            return None

    def take_unstarted(self, limit: int) -> list[Held]:
        """More jobs that must be started before they run, without waiting."""
        taken: list[Held] = []
        while len(taken) < limit and self._ready and not self._ready[0].started:
            try:
                taken.append(self._ready.popleft())
            except IndexError:
                break
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

    def suspect_ended(self) -> None:
        with self._changed:
            self._suspect_runs = False
            self._changed.notify()

    def forget(self, job_ids: list[int]) -> None:
        for job_id in job_ids:
            self.held.pop(job_id, None)

    def _suspect_waits(self) -> bool:
        return bool(self._suspects) and not self._suspect_runs
