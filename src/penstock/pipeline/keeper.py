"""A runtime's lease: renewed every second, and with it what the subscription's state is."""

from contextlib import suppress
from threading import Event, Lock, Thread
from uuid import UUID

import structlog

from penstock.errors import PenstockError, RuntimeReplaced
from penstock.kernel import runtimes
from penstock.kernel.connection import Connection, connect
from penstock.kernel.runtimes import Lease
from penstock.pipeline.lag import Lag

log = structlog.get_logger("penstock.runtime")

_RENEW_S = 1.0


class Keeper:
    """Renews the lease every second, and hears from it what the subscription's state is."""

    def __init__(self, url: str, path: str, incarnation: UUID, lease: Lease) -> None:
        self.lease = lease
        self.source_is_down = False
        self._url = url
        self._path = path
        self._incarnation = incarnation
        self._end = Event()
        self._replaced: RuntimeReplaced | None = None
        self._lag: Lag | None = None
        self._turn = Lock()
        self._looking = Lock()
        self._thread = Thread(target=self._run, name=f"lease {path}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._end.set()
        self._thread.join()

    def check(self) -> None:
        if self._replaced is not None:
            raise self._replaced

    def retake(self, connection: Connection) -> None:
        """A new token, by the newest version; refused once somebody else has taken the subscription."""
        with self._turn:
            runtimes.lease(connection, self._path, self._incarnation, self.lease.token)
            self.lease = runtimes.lease(connection, self._path, self._incarnation)

    def latest(self, connection: Connection) -> Lease:
        """Renewed at this moment where that can be done, else as it was heard last."""
        with suppress(PenstockError):
            self._hold(connection)
        return self.lease

    def watch(self, lag: Lag | None) -> None:
        """From now on. A look that was under way has ended on return, so that its source may be closed."""
        with self._looking:
            self._lag = lag

    def _run(self) -> None:
        while not self._end.is_set():
            try:
                with connect(self._url, application="penstock lease") as connection:
                    self._renew(connection)
            except RuntimeReplaced as error:
                self._replaced = error
                return
            except PenstockError as error:
                log.warning("the lease could not be renewed", subscription=self._path, error=str(error))
                self._end.wait(_RENEW_S)

    def _renew(self, connection: Connection) -> None:
        while not self._end.wait(_RENEW_S):
            self._hold(connection, self._backlog())

    def _hold(self, connection: Connection, backlog: int | None = None) -> None:
        with self._turn:
            self.lease = runtimes.lease(connection, self._path, self._incarnation, self.lease.token, backlog)

    def _backlog(self) -> int | None:
        with self._looking:
            return None if self._lag is None else self._lag(self.lease.positions)
