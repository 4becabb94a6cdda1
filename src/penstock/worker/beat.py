"""The clockwork of a worker: beats that extend its leases, and ticks that drive the queue."""

import time
from collections.abc import Mapping
from threading import Event

import structlog

from penstock.errors import DatabaseUnavailable, PenstockError
from penstock.kernel import jobs, queue
from penstock.kernel.queue import KindTimes
from penstock.worker.fetch import Fetcher, Scope
from penstock.worker.held import Held, Shelf
from penstock.worker.link import Link
from penstock.worker.run import Runners

log = structlog.get_logger("penstock.worker")

_TICK_S = 1.0
_LONGEST_BEAT_S = 10.0
_SHORTEST_BEAT_S = 0.05
_AFTER_FAILURE_S = 0.5


class Beater:
    """Its thread beats, and tells handlers of jobs that are cancelled or lost."""

    def __init__(self, link: Link, scope: Scope, shelf: Shelf, runners: Runners, fetcher: Fetcher) -> None:
        self._link = link
        self._scope = scope
        self._shelf = shelf
        self._runners = runners
        self._fetcher = fetcher
        self._stop = Event()

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        try:
            while not self._stop.is_set():
                beat_at = time.monotonic()
                interval_s = beat_interval_s(self._fetcher.times)
                try:
                    self._beat()
                except PenstockError as error:
                    interval_s = min(interval_s, _AFTER_FAILURE_S)
                    if not isinstance(error, DatabaseUnavailable):
                        log.warning("beat failed", error=str(error))
                self._stop.wait(max(_SHORTEST_BEAT_S, beat_at + interval_s - time.monotonic()))
        finally:
            self._link.close()

    def _beat(self) -> None:
        scope = self._scope
        held = self._newest()
        ids = list(held)
        tokens = [one.claim.lease_token for one in held.values()]
        asked_at = time.monotonic()
        gone = dict(self._link.call(lambda c: jobs.heartbeat(c, scope.executor_id, scope.incarnation, ids, tokens)))
        for job_id, one in held.items():
            reason = gone.get(job_id)
            if reason is None:
                one.confirmed(asked_at)
            elif one in self._shelf.held:
                self._runners.abandon(one, reason)
        self._fetcher.times = self._link.call(lambda c: queue.kind_times(c, scope.kinds))

    def _newest(self) -> dict[int, Held]:
        """What this worker holds, by job: of a job claimed again after its lease was lost, only the newest claim."""
        newest: dict[int, Held] = {}
        for one in self._shelf.held.copy():
            other = newest.setdefault(one.claim.job_id, one)
            if other is not one:
                older, newer = sorted((one, other), key=lambda two: two.claim.lease_token)
                newest[one.claim.job_id] = newer
                self._runners.abandon(older, "lost")
        return newest


class Ticker:
    """Its thread ticks once a second; apart from the beats, because a tick may wait for a lock."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._stop = Event()

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    if self._tick():
                        continue
                except DatabaseUnavailable:
                    pass  # its link has said so
                except PenstockError as error:
                    log.warning("tick failed", error=str(error))
                self._stop.wait(_TICK_S)
        finally:
            self._link.close()

    def _tick(self) -> bool:
        """Returns whether a part did as much as it does in one go, and has more to do."""
        report = self._link.call(queue.tick)
        for part, outcome in report.items():
            if isinstance(outcome, dict) and not outcome.get("ok", True):
                log.error("tick failed", part=part, error=outcome.get("error"))
        return queue.wants_another(report)


def beat_interval_s(times: Mapping[str, KindTimes]) -> float:
    """A sixth of the shortest lease: a beat extends those with less than half left, so two may fail before one ends."""
    shortest = min((limits.lease_s for limits in times.values()), default=_LONGEST_BEAT_S * 6)
    return min(_LONGEST_BEAT_S, max(_SHORTEST_BEAT_S, shortest / 6))
