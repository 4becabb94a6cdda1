"""A runtime's lease: renewed every second, and with it what the subscription's state is."""

from contextlib import suppress
from dataclasses import replace
from threading import Event, Lock, Thread
from uuid import UUID

import structlog

from penstock.errors import Busy, PenstockError, RuntimeReplaced, TokenRefused
from penstock.kernel.runtimes import Lease
from penstock.pipeline.books import Books, Place, opened
from penstock.pipeline.lag import Lag

log = structlog.get_logger("penstock.runtime")

_RENEW_S = 1.0
_LOCK_MS = 500


class Keeper:
    """Renews the lease every second, and hears from it what the subscription's state is."""

    def __init__(self, place: Place, path: str, incarnation: UUID, lease: Lease) -> None:
        self.lease = lease
        self.source_is_down = False
        self._place = place
        self._path = path
        self._incarnation = incarnation
        self._end = Event()
        # why it is not to be held any more, whoever asks again
        self._over: RuntimeReplaced | TokenRefused | None = None
        self._lag: Lag | None = None
        self._turn = Lock()
        self._looking = Lock()
        self._backlog: int | None = None
        # a source may take its time to answer, and the lease does not wait for it
        self._threads = [
            Thread(target=self._run, name=f"lease {path}", daemon=True),
            Thread(target=self._look, name=f"backlog {path}", daemon=True),
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join()

    def check(self) -> None:
        if self._over is not None:
            raise self._over

    def retake(self, books: Books) -> Lease:
        """A new token, by the newest version; refused once somebody else has taken the subscription."""
        with self._turn:
            try:
                books.lease(self._incarnation, self.lease.token)
            except RuntimeReplaced as error:
                self._over = error
                raise
            self.lease = books.lease(self._incarnation)
            return self.lease

    def release(self, books: Books) -> str:
        """Give the place back; the state the subscription is left in."""
        try:
            return books.release(self.lease.token)
        except RuntimeReplaced:
            # by itself, where the answer of a take was lost
            return books.release(self.latest(books).token)

    def latest(self, books: Books) -> Lease:
        """Renewed at this moment where that can be done, else as it was heard last."""
        with suppress(PenstockError):
            self._hold(books)
        return self.lease

    def watch(self, lag: Lag | None) -> None:
        """From now on. A look that was under way has ended on return, so that its source may be closed."""
        with self._looking:
            self._lag = lag

    def _run(self) -> None:
        while not self._end.is_set():
            try:
                with opened(self._place, self._path, "penstock lease", _LOCK_MS) as books:
                    self._renew(books)
            except (RuntimeReplaced, TokenRefused) as error:
                self._over = error
                return
            except Exception as error:
                # whatever it is: without this thread the runtime would be deaf, and lose its place
                log.warning("the lease could not be renewed", subscription=self._path, error=str(error))
                self._end.wait(_RENEW_S)

    def _renew(self, books: Books) -> None:
        while not self._end.wait(_RENEW_S):
            backlog, self._backlog = self._backlog, None
            try:
                self._hold(books, backlog)
            except Busy:
                # a commit has the runtime's row, and nobody takes the place meanwhile; the state is in another
                state = books.state()
                with self._turn:
                    # as it is by now: it may have been taken anew while the state was asked for
                    self.lease = replace(self.lease, state=state)

    def _hold(self, books: Books, backlog: int | None = None) -> None:
        with self._turn:
            self.lease = books.lease(self._incarnation, self.lease.token, backlog)

    def _look(self) -> None:
        while not self._end.wait(_RENEW_S):
            with self._looking:
                try:
                    self._backlog = None if self._lag is None else self._lag(self.lease.positions)
                except Exception as error:
                    # a user's own class may raise anything
                    said = f"{type(error).__name__}: {error}"
                    log.warning("the source does not say how far behind we are", subscription=self._path, error=said)
