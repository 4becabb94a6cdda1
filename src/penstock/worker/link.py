"""A thread's own connection, which survives the server."""

import random
from collections.abc import Callable
from queue import Empty, LifoQueue
from threading import Event
from typing import TypeVar

from penstock.errors import DatabaseUnavailable, EmbeddedPostgresError
from penstock.kernel.connection import Connection, connect
from penstock.worker.outage import Outage

T = TypeVar("T")

_FIRST_WAIT_S = 0.1
_LONGEST_WAIT_S = 5.0


class Link:
    """Opens a connection when it is needed, and another one when that broke.

    `revive` has a server started again that is ours and has crashed.
    """

    def __init__(
        self,
        url: str,
        application: str,
        prepare: Callable[[Connection], None] | None = None,
        *,
        outage: Outage | None = None,
        revive: Callable[[], None] | None = None,
    ) -> None:
        self._url = url
        self._application = application
        self._prepare = prepare
        self._outage = outage
        self._revive = revive
        self._is_cut = False
        self._connection: Connection | None = None

    def call(self, statement: Callable[[Connection], T]) -> T:
        """Run one statement; a lost connection is dropped and the error passed on."""
        try:
            answer = statement(self._open())
        except DatabaseUnavailable as error:
            self.close()
            self._noticed(error)
            raise
        if self._is_cut:
            self._is_cut = False
            if self._outage is not None:
                self._outage.over()
        return answer

    def insist(self, statement: Callable[[Connection], T], give_up: Event) -> T:
        """Run one statement until the server answers, or until nobody wants it any more."""
        wait_s = _FIRST_WAIT_S
        while True:
            try:
                return self.call(statement)
            except DatabaseUnavailable:
                if give_up.wait(wait_s * random.uniform(0.5, 1)):
                    raise
                wait_s = min(wait_s * 2, _LONGEST_WAIT_S)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> Connection:
        if self._connection is None or self._connection.closed:
            connection = self._connect()
            try:
                if self._prepare is not None:
                    self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _connect(self) -> Connection:
        try:
            return connect(self._url, application=self._application)
        except DatabaseUnavailable as error:
            if self._revive is None:
                raise
            self._noticed(error)
        try:
            self._revive()
        except EmbeddedPostgresError as error:
            raise DatabaseUnavailable(str(error)) from error
        return connect(self._url, application=self._application)

    def _noticed(self, error: DatabaseUnavailable) -> None:
        self._is_cut = True
        if self._outage is not None:
            self._outage.noticed(error)


class LinkPool:
    """Links that handlers of one kind share: each has one to itself while it calls."""

    def __init__(self, open_link: Callable[[str], Link], part: str) -> None:
        self._open_link = open_link
        self._part = part
        self._idle: LifoQueue[Link] = LifoQueue()

    def call(self, statement: Callable[[Connection], T]) -> T:
        link = self.taken()
        try:
            return link.call(statement)
        finally:
            self.give_back(link)

    def taken(self) -> Link:
        """One for longer than a call; the caller gives it back."""
        try:
            return self._idle.get_nowait()
        except Empty:
            return self._open_link(self._part)

    def give_back(self, link: Link) -> None:
        self._idle.put(link)
