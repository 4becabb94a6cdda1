"""Connections that many threads share: a bounded number, each good when it is handed out."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout, TooManyRequests

from penstock.errors import DatabaseUnavailable
from penstock.kernel.connection import Connection, arguments, lasting, translated

# a request that finds no connection is answered soon, and asked again by whoever sent it
_PATIENCE_S = 3.0
_CONNECT_S = 5


class Pool:
    """At most `size` sessions, opened when they are wanted, whether or not PostgreSQL answers now."""

    def __init__(self, url: str, *, size: int, application: str, statement_s: float) -> None:
        limit = f"-c statement_timeout={_ms(statement_s)}"
        self._pool = ConnectionPool(
            lasting(url),
            kwargs=arguments(url, application=application, timeout_s=_CONNECT_S, options=limit),
            min_size=1,
            max_size=size,
            open=False,
            # after a restart of the server the old ones are broken
            check=ConnectionPool.check_connection,
            timeout=_PATIENCE_S,
            # given up early, and begun again by the next request: a later try would wait longer and longer
            reconnect_timeout=_PATIENCE_S,
            num_workers=2,
        )

    def open(self) -> None:
        """Begin to connect; waits for nothing."""
        self._pool.open(wait=False)

    def close(self) -> None:
        self._pool.close()

    @contextmanager
    def connection(self, statement_s: float | None = None) -> Iterator[Connection]:
        """One for this thread, for as long as the block lasts; with another limit of its statements than the pool's."""
        try:
            lent = self._pool.getconn()
        except (PoolTimeout, TooManyRequests) as error:
            raise DatabaseUnavailable("no connection to PostgreSQL can be had now") from error
        try:
            with _limited(lent, statement_s):
                yield lent
        finally:
            self._pool.putconn(lent)

    def counts(self) -> dict[str, int]:
        """How many sessions there are, how many are free, and how many requests wait for one."""
        said = self._pool.get_stats()
        return {name: said.get(key, 0) for name, key in _COUNTS.items()}


@contextmanager
def _limited(connection: Connection, statement_s: float | None) -> Iterator[None]:
    if statement_s is None:
        yield
        return
    with translated(connection):
        connection.execute(f"set statement_timeout = {_ms(statement_s)}".encode())
    try:
        yield
    finally:
        # one that broke meanwhile is not lent again
        with suppress(psycopg.Error):
            connection.execute("reset statement_timeout")


def _ms(seconds: float) -> int:
    return int(seconds * 1000)


_COUNTS = {"open": "pool_size", "free": "pool_available", "waiting": "requests_waiting"}
