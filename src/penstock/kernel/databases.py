"""Databases of a server we may make and drop ourselves: the embedded one."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from psycopg import errors as pg
from psycopg import sql

from penstock.errors import PenstockError
from penstock.kernel.connection import Connection, translated

_LOCK_NAMESPACE = 0x70656E73  # "pens"
_PAUSE_S = 0.1


def create_missing(connection: Connection, name: str) -> bool:
    """Have a database of that name on the connection's server; False when it was there."""
    with translated(connection):
        if connection.execute("select 1 from pg_database where datname = %s", [name]).fetchone():
            return False
        try:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        except (pg.DuplicateDatabase, pg.UniqueViolation):
            return False  # another process was faster
    return True


def drop(connection: Connection, name: str, *, patience_s: float) -> None:
    """Drop the database if it is there: at once when nobody is connected to it, after some patience in any case."""
    deadline = time.monotonic() + patience_s
    with translated(connection):
        while _is_used(connection, name) and time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
        connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))


def has_schema(connection: Connection) -> bool:
    """Whether Penstock has ever been migrated into the connection's database."""
    with translated(connection):
        row = connection.execute("select to_regclass('penstock.schema_migration') is not null").fetchone()
    return bool(row and row[0])


@contextmanager
def alone(connection: Connection, what: str, *, patience_s: float) -> Iterator[None]:
    """Hold the server-wide right to do this, or raise when another process has it."""
    deadline = time.monotonic() + patience_s
    arguments = [_LOCK_NAMESPACE, what]
    with translated(connection):
        while not _true(connection, "select pg_try_advisory_lock(%s, hashtext(%s))", arguments):
            if time.monotonic() > deadline:
                raise PenstockError(f"another {what} is running on this server: wait until it has ended")
            time.sleep(_PAUSE_S)
    try:
        yield
    finally:
        if not connection.closed:
            with translated(connection):
                connection.execute("select pg_advisory_unlock(%s, hashtext(%s))", arguments)


def _is_used(connection: Connection, name: str) -> bool:
    return _true(connection, "select exists (select from pg_stat_activity where datname = %s)", [name])


def _true(connection: Connection, query: str, arguments: list[object]) -> bool:
    row = connection.execute(query.encode(), arguments).fetchone()
    return bool(row and row[0])
