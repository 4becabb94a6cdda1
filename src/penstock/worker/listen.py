"""Wake-ups: LISTEN on a connection of its own. Only a hint; without it the worker polls."""

from collections.abc import Callable
from threading import Event
from time import monotonic

from penstock.errors import PenstockError
from penstock.kernel import queue
from penstock.worker.link import Link

_DOMAINS_S = 30


class Listener:
    """Its thread calls `wake` for jobs and `wake_events` for events that have come, and both after each reconnect.

    Event domains may be registered while it listens: it asks for them again every `domains_s`.
    """

    def __init__(
        self, link: Link, wake: Callable[[], None], wake_events: Callable[[], None], domains_s: float = _DOMAINS_S
    ) -> None:
        self._link = link
        self._wake = wake
        self._wake_events = wake_events
        self._domains_s = domains_s
        self._stop = Event()

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        asked = monotonic()
        try:
            while not self._stop.is_set():
                try:
                    if monotonic() - asked > self._domains_s:
                        self._link.call(queue.listen)
                        asked = monotonic()
                    has_come = self._link.call(lambda c: queue.woken(c, 0.5))
                    if has_come is not None:
                        (self._wake_events if has_come == "events" else self._wake)()
                except PenstockError:
                    self._stop.wait(0.5)
                    self._wake()
                    self._wake_events()
        finally:
            self._link.close()
