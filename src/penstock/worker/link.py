"""A thread's own connection, which survives the server."""

import random
from collections.abc import Callable
from threading import Event
from typing import TypeVar

import structlog

from penstock.errors import DatabaseUnavailable
from penstock.kernel.connection import Connection, connect

T = TypeVar("T")
log = structlog.get_logger("penstock.worker")

_FIRST_WAIT_S = 0.1
_LONGEST_WAIT_S = 5.0


class Link:
    """Opens a connection when it is needed, and another one when that broke."""

    def __init__(self, url: str, application: str, prepare: Callable[[Connection], None] | None = None) -> None:
        self._url = url
        self._application = application
        self._prepare = prepare
        self._connection: Connection | None = None

    def call(self, statement: Callable[[Connection], T]) -> T:
        """Run one statement; a lost connection is dropped and the error passed on."""
        try:
            return statement(self._open())
        except DatabaseUnavailable:
            self.close()
            raise

    def insist(self, statement: Callable[[Connection], T], give_up: Event) -> T:
        """Run one statement until the server answers, or until nobody wants it any more."""
        wait_s = _FIRST_WAIT_S
        while True:
            try:
                return self.call(statement)
            except DatabaseUnavailable as error:
                log.warning("waiting for PostgreSQL", part=self._application, wait_s=round(wait_s, 1), error=str(error))
                if give_up.wait(wait_s * random.uniform(0.5, 1)):
                    raise
                wait_s = min(wait_s * 2, _LONGEST_WAIT_S)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> Connection:
        if self._connection is None or self._connection.closed:
            connection = connect(self._url, application=self._application)
            try:
                if self._prepare is not None:
                    self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection
