"""Connections to the kernel's database, and the translation of its errors."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import errors as pg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from penstock.errors import (
    BY_SQLSTATE,
    BadRequest,
    BadText,
    Busy,
    DatabaseUnavailable,
    NotAllowed,
    PenstockError,
    SchemaMissing,
    SettingsError,
)

Connection = psycopg.Connection[tuple[Any, ...]]

# A session that sits in a transaction holds its locks: the kernel's own calls are single statements. And above read
# committed a look that must be newer than a lock would not be.
_OPTIONS = (
    r"-c idle_in_transaction_session_timeout=60000 -c timezone=UTC -c default_transaction_isolation=read\ committed"
)
_LASTING = {"keepalives_idle": "30", "keepalives_interval": "10", "tcp_user_timeout": "30000"}
_OUR_OBJECT = re.compile("permission denied for (schema penstock|table|view|function|sequence)")
_WHICH_ROLE = (
    "penstock_producer to enqueue, dot_executor to run workers, workflow_admin to operate the queue,"
    " penstock_reader to look"
)


def connect(url: str, *, application: str = "penstock", timeout_s: int = 10) -> Connection:
    """Open an autocommit connection, or say why not. What the URL sets goes before what we would."""
    given = arguments(url, application=application, timeout_s=timeout_s)
    try:
        return psycopg.connect(lasting(url), **given)
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(
            f"cannot connect to PostgreSQL: {str(error).strip()}\n"
            "Check PENSTOCK_DATABASE_URL, or unset it to use the embedded server. See: penstock doctor"
        ) from error


def arguments(url: str, *, application: str, timeout_s: int, options: str = "") -> dict[str, Any]:
    """What every session of ours is opened with; `options` are the server's, as on its command line."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        # libpq's message would repeat the URL, and the password in it
        raise SettingsError(
            "the database's URL (PENSTOCK_DATABASE_URL) cannot be read: "
            "it must look like postgresql://user:password@host:5432/database"
        ) from error
    return {
        "autocommit": True,
        "application_name": application,
        "client_encoding": "utf8",
        "connect_timeout": given.get("connect_timeout") or timeout_s,
        "options": f"{_OPTIONS} {options} {given.get('options') or ''}",
    }


def lasting(url: str) -> str:
    """The same with what a connection needs that is kept: a peer that vanished without a word is noticed.

    What the URL sets goes before it.
    """
    given = conninfo_to_dict(url)
    return make_conninfo(url, **{key: value for key, value in _LASTING.items() if key not in given})


@contextmanager
def patience(connection: Connection, lock_ms: int | None) -> Iterator[None]:
    """Within, a call waits no longer for a lock, and is Busy then; None: as long as it takes."""
    if lock_ms is None:
        yield
        return
    with translated(connection):
        connection.execute(f"set lock_timeout = {lock_ms}".encode())
    try:
        yield
    finally:
        # a connection that broke meanwhile is not used again
        with suppress(psycopg.Error):
            connection.execute("reset lock_timeout")


@contextmanager
def translated(connection: Connection | None = None) -> Iterator[None]:
    """Turn the database's errors into ours; SQLSTATE by SQLSTATE. Whose `connection` it is may be told, too."""
    try:
        yield
    except pg.InsufficientPrivilege as error:
        raise _not_allowed(error, connection) from error
    except psycopg.Error as error:
        raise _ours(error) from error
    except UnicodeEncodeError as error:
        raise BadText(
            f"text with half a character (U+{ord(error.object[error.start]):04X}) cannot be stored"
        ) from error


def _not_allowed(error: pg.InsufficientPrivilege, connection: Connection | None) -> NotAllowed:
    """Who lacks what: PostgreSQL says neither who asked nor which role would have been allowed."""
    message = error.diag.message_primary or str(error)
    if connection is None or error.diag.message_hint:
        return NotAllowed(message, error.diag.message_hint)
    user = connection.info.user
    hint = f"You are connected as {user}."
    if _OUR_OBJECT.match(message):
        hint += f" A superuser, or whoever made the roles, runs: grant ROLE to {user}, where ROLE is {_WHICH_ROLE}."
    return NotAllowed(message, hint)


def _ours(error: psycopg.Error) -> Exception:
    if isinstance(error, pg.UntranslatableCharacter) or (isinstance(error, psycopg.DataError) and "NUL" in str(error)):
        return BadText(
            "text with U+0000 cannot be stored in PostgreSQL", "Take it out of the payload, key or ref it is in."
        )
    known = BY_SQLSTATE.get(error.sqlstate or "")
    if known is not None:
        return known(error.diag.message_primary or str(error), error.diag.message_hint, error.diag.message_detail)
    if isinstance(error, pg.UndefinedTable | pg.UndefinedFunction | pg.InvalidSchemaName) and "penstock" in (
        error.diag.message_primary or str(error)
    ):
        return SchemaMissing(f"this database has no Penstock schema, or an older one: {error}\nRun: penstock migrate")
    if isinstance(error, psycopg.DataError):
        return BadRequest(f"a value cannot be read: {error.diag.message_primary or error}", error.diag.message_detail)
    if isinstance(error, pg.LockNotAvailable):
        return Busy(f"an open transaction elsewhere holds what this needs: {error.diag.message_primary}")
    if isinstance(error, psycopg.OperationalError):
        return DatabaseUnavailable(f"PostgreSQL did not answer: {str(error).strip()}")
    return PenstockError(str(error))
