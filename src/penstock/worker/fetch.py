"""Keeps the shelf filled: claims jobs ahead, but never more than can be run well within their lease."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Event
from uuid import UUID

import structlog

from penstock.errors import DatabaseUnavailable, PenstockError
from penstock.jobs import Job
from penstock.kernel import jobs, queue
from penstock.kernel.connection import Connection
from penstock.kernel.queue import KindTimes
from penstock.worker.held import Held, Shelf
from penstock.worker.link import Link
from penstock.worker.report import Reporter
from penstock.worker.run import Runners

log = structlog.get_logger("penstock.worker")

_LARGEST_CLAIM = 1000
_AHEAD_S = 0.5
_TOO_FAR_AHEAD_S = 5.0
_QUICK_S = 0.0005
_FIRST_LOOK_S = 0.002
_STALLED_S = 1.0
_AFTER_FAILURE_S = 1.0


@dataclass(frozen=True)
class Scope:
    """Which jobs this worker claims, and as whom."""

    executor_id: str
    incarnation: UUID
    kinds: tuple[str, ...]
    pools: tuple[str, ...] | None


class Fetcher:
    """Its thread claims; `wake` cuts its sleep short."""

    def __init__(
        self,
        link: Link,
        scope: Scope,
        shelf: Shelf,
        runners: Runners,
        reporter: Reporter,
        concurrency: int,
        poll_s: float,
    ) -> None:
        self.wake = Event()
        self.times: Mapping[str, KindTimes] = {}
        self._link = link
        self._scope = scope
        self._shelf = shelf
        self._runners = runners
        self._reporter = reporter
        self._concurrency = concurrency
        self._poll_s = poll_s
        self._stop = Event()
        self._said: set[str] = set()

    def stop(self) -> None:
        self._stop.set()
        self.wake.set()

    def run(self) -> None:
        """The thread: claim while there is room and work; else sleep, at first briefly, then for the poll interval."""
        first_s = sleep_s = min(_FIRST_LOOK_S, self._poll_s)
        is_short = True
        try:
            while not self._stop.is_set():
                self._give_back_excess()
                looked_at = time.monotonic()
                limit, start = self._appetite()
                if is_short:
                    limit = min(limit, jobs.FEW)
                found = self._claim(limit, start) if limit else 0
                if found or not limit:
                    sleep_s = first_s
                is_short = found < limit
                if is_short or not limit:
                    self._rest(sleep_s, looked_at)
                    sleep_s = min(sleep_s * 2, self._poll_s)
        finally:
            self._link.close()

    def _rest(self, sleep_s: float, since: float) -> None:
        """Sleep until so long after the last look began; if that look took long, still half as long."""
        self.wake.wait(max(since + sleep_s - time.monotonic(), sleep_s / 2))
        self.wake.clear()

    def _appetite(self) -> tuple[int, bool]:
        """How many jobs to claim now, and whether to start them with the claim."""
        pace = self._runners.pace.seconds
        waiting = self._shelf.ready
        if pace is None or (waiting == 0 and pace > _QUICK_S):
            return max(0, self._runners.idle - waiting), True
        if self._is_stalled():
            return 0, False
        ahead = min(_LARGEST_CLAIM, max(self._concurrency, int(self._concurrency * _AHEAD_S / max(pace, 1e-6))))
        quick = pace <= _QUICK_S
        # of quick jobs a whole batch waits while the next is claimed, so that neither side rests
        if len(self._shelf.held) > 4 * _LARGEST_CLAIM or waiting > (ahead if quick else ahead // 2):
            return 0, False
        return ahead, quick

    def _claim(self, limit: int, start: bool) -> int:
        said: list[str] = []
        try:
            batch = self._link.call(lambda c: self._fetch(c, limit, start, said))
        except PenstockError as error:
            if not isinstance(error, DatabaseUnavailable):
                log.warning("claim failed", error=str(error))
            self._stop.wait(_AFTER_FAILURE_S)
            return 0
        self._shelf.put(batch)
        for notice in set(said) - self._said:
            self._said.add(notice)
            log.warning(notice)
        return len(batch)

    def _fetch(self, connection: Connection, limit: int, start: bool, said: list[str]) -> list[Held]:
        asked_at = time.monotonic()
        scope = self._scope
        with queue.notices(connection, said):
            claimed = jobs.claim_whole(
                connection,
                scope.executor_id,
                limit,
                kinds=scope.kinds,
                pools=scope.pools,
                incarnation=scope.incarnation,
                start=start,
                suspects=self._shelf.wants_suspects,
            )
        times = self.times
        batch = []
        for claim, facts in claimed:
            limits = times[claim.job_kind]
            batch.append(Held(claim, Job(claim, facts), asked_at, limits.lease_s, limits.timeout_s))
        return batch

    def _give_back_excess(self) -> None:
        """Handlers have become slow: jobs that would wait long are better off with somebody else."""
        pace = self._runners.pace.seconds
        excess = self._shelf.take_stranded(_STALLED_S)
        if self._is_stalled():
            excess += self._shelf.take_last(0)
        elif pace is not None and self._shelf.ready * pace / self._concurrency >= _TOO_FAR_AHEAD_S:
            excess += self._shelf.take_last(max(self._concurrency, int(self._concurrency * _AHEAD_S / pace)))
        if excess:
            self._reporter.released(excess)
            log.info("gave jobs back: they would have waited long", jobs=len(excess))

    def _is_stalled(self) -> bool:
        """Every runner is busy, and none has ended a job for a while: the pace of the past says nothing now."""
        return self._runners.idle <= 0 and time.monotonic() - self._runners.pace.ended_at > _STALLED_S
