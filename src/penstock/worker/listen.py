"""Wake-ups: LISTEN on a connection of its own. Only a hint; without it the worker polls."""

from collections.abc import Callable
from threading import Event

from penstock.errors import PenstockError
from penstock.kernel import queue
from penstock.worker.link import Link


class Listener:
    """Its thread calls `wake` for every notification, and once after each reconnect."""

    def __init__(self, link: Link, wake: Callable[[], None]) -> None:
        self._link = link
        self._wake = wake
        self._stop = Event()

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    if self._link.call(lambda c: queue.woken(c, 0.5)):
                        self._wake()
                except PenstockError:
                    self._stop.wait(0.5)
                    self._wake()
        finally:
            self._link.close()
