"""The clockwork of a worker: beats that extend its leases, ticks that drive the queue, timeouts of its handlers."""

import time
from collections.abc import Mapping
from threading import Event

import structlog

from penstock.errors import PenstockError
from penstock.kernel import jobs, queue
from penstock.kernel.queue import KindTimes
from penstock.worker.fetch import Fetcher, Scope
from penstock.worker.held import Shelf
from penstock.worker.link import Link
from penstock.worker.report import Reporter
from penstock.worker.run import Runners

log = structlog.get_logger("penstock.worker")

_TICK_S = 1.0
_LONGEST_BEAT_S = 10.0
_SHORTEST_BEAT_S = 0.1


class Beater:
    """Its thread beats at a quarter of the shortest lease, and ticks once a second."""

    def __init__(
        self, link: Link, scope: Scope, shelf: Shelf, runners: Runners, reporter: Reporter, fetcher: Fetcher
    ) -> None:
        self._link = link
        self._scope = scope
        self._shelf = shelf
        self._runners = runners
        self._reporter = reporter
        self._fetcher = fetcher
        self._stop = Event()

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        beat_at = tick_at = 0.0
        try:
            while not self._stop.is_set():
                now = time.monotonic()
                try:
                    if now >= beat_at:
                        self._beat()
                        beat_at = now + beat_interval_s(self._fetcher.times)
                    self._runners.overdue()
                    if now >= tick_at:
                        self._tick()
                        tick_at = now + _TICK_S
                except PenstockError as error:
                    log.warning("beat failed", error=str(error))
                    beat_at = now + _SHORTEST_BEAT_S * 5
                self._stop.wait(max(0.02, min(beat_at, tick_at) - time.monotonic()))
        finally:
            self._link.close()

    def _beat(self) -> None:
        scope = self._scope
        held = list(self._shelf.held.values())
        asked_at = time.monotonic()
        ids = [one.claim.job_id for one in held]
        tokens = [one.claim.lease_token for one in held]
        gone = dict(self._link.call(lambda c: jobs.heartbeat(c, scope.executor_id, scope.incarnation, ids, tokens)))
        for one in held:
            reason = gone.get(one.claim.job_id)
            if reason is None:
                one.confirmed_at = asked_at
            elif one.claim.job_id in self._shelf.held:
                one.lost = reason == "lost"
                one.job.cancelled = True
                self._runners.abandon(one.claim.job_id, reason)
        self._fetcher.times = self._link.call(lambda c: queue.kind_times(c, scope.kinds))

    def _tick(self) -> None:
        report = self._link.call(queue.tick)
        for part, outcome in report.items():
            if isinstance(outcome, dict) and not outcome.get("ok", True):
                log.error("tick failed", part=part, error=outcome.get("error"))


def beat_interval_s(times: Mapping[str, KindTimes]) -> float:
    """A quarter of the shortest lease, so that two beats may fail before one ends."""
    shortest = min((limits.lease_s for limits in times.values()), default=_LONGEST_BEAT_S * 4)
    return min(_LONGEST_BEAT_S, max(_SHORTEST_BEAT_S, shortest / 4))
