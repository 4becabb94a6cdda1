"""The dispatcher of a worker: ticks over the event log, and what consumers and routes make of events."""

from collections.abc import Callable
from functools import partial
from threading import Event

import structlog

from penstock.errors import DatabaseUnavailable, PenstockError
from penstock.kernel import consumers, events, outbound
from penstock.kernel.connection import Connection
from penstock.model import Json
from penstock.worker.link import Link

log = structlog.get_logger("penstock.worker")

_PAGE = 5000
_POLL_S = 0.5
# after something came, more may follow that had no wake-up of its own
_AGAIN_S = 0.02
_AFTER_FAILURE_S = 5


class Dispatcher:
    """Its thread looks when it is woken, and twice a second. Of several workers one at a time does the work."""

    def __init__(self, link: Link) -> None:
        self.wake = Event()
        self._link = link
        self._stop = Event()
        self._said: str | None = None

    def stop(self) -> None:
        self._stop.set()
        self.wake.set()

    def run(self) -> None:
        rest_s = _POLL_S
        try:
            while not self._stop.is_set():
                was_woken = self.wake.wait(rest_s)
                self.wake.clear()
                try:
                    rest_s = _AGAIN_S if self._link.call(partial(self._look, was_woken=was_woken)) else _POLL_S
                    self._said = None
                except PenstockError as error:
                    rest_s = _AFTER_FAILURE_S
                    self._say(error)
        finally:
            self._link.close()

    def _look(self, connection: Connection, *, was_woken: bool) -> bool:
        """Whether something had come."""
        # what wakes us may have had its number seen before it was committed
        events.tick(connection, within_s=_AGAIN_S if was_woken else 1.0)
        runs = [partial(consumers.dispatch_run, connection, limit=_PAGE)]
        runs += [
            partial(outbound.worker_run, connection, name, limit=_PAGE) for name in outbound.worker_names(connection)
        ]
        found, faults = False, []
        for run in runs:
            try:
                found = self._all_of(run) or found
            except DatabaseUnavailable:
                raise
            except PenstockError as error:
                # one reader that cannot go on stops no other
                faults.append(error)
        if faults:
            raise faults[0]
        return found

    def _all_of(self, run: Callable[[], Json]) -> bool:
        """Page after page; whether there was anything."""
        found = False
        while not self._stop.is_set():
            report = run()
            found = found or bool(report.get("events"))
            if report.get("apart"):
                log.warning("events had to be taken one by one", why=report["apart"])
            if not report.get("more"):
                break
        return found

    def _say(self, error: PenstockError) -> None:
        """Once, as long as it stays the same."""
        if not isinstance(error, DatabaseUnavailable) and str(error) != self._said:
            self._said = str(error)
            log.error("events are not dispatched", error=self._said)
