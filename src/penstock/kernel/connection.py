"""Connections to the kernel's database, and the translation of its errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors as pg

from penstock.errors import BY_SQLSTATE, BadText, DatabaseUnavailable, PenstockError, SchemaMissing, SettingsError

Connection = psycopg.Connection[tuple[Any, ...]]

# A session that sits in a transaction holds its locks: the kernel's own calls are single statements.
_OPTIONS = "-c idle_in_transaction_session_timeout=60000 -c timezone=UTC"


def connect(url: str, *, application: str = "penstock", timeout_s: int = 10) -> Connection:
    """Open an autocommit connection, or say why not."""
    try:
        return psycopg.connect(
            url,
            autocommit=True,
            application_name=application,
            connect_timeout=timeout_s,
            options=_OPTIONS,
            keepalives_idle=30,
            keepalives_interval=10,
        )
    except psycopg.ProgrammingError as error:
        # libpq's message would repeat the URL, and the password in it
        raise SettingsError(
            "the database's URL (PENSTOCK_DATABASE_URL) cannot be read: "
            "it must look like postgresql://user:password@host:5432/database"
        ) from error
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(
            f"cannot connect to PostgreSQL: {str(error).strip()}\n"
            "Check PENSTOCK_DATABASE_URL, or unset it to use the embedded server. See: penstock doctor"
        ) from error


@contextmanager
def translated() -> Iterator[None]:
    """Turn the database's errors into ours; SQLSTATE by SQLSTATE."""
    try:
        yield
    except psycopg.Error as error:
        raise _ours(error) from error


def _ours(error: psycopg.Error) -> Exception:
    known = BY_SQLSTATE.get(error.sqlstate or "")
    if known is not None:
        return known(error.diag.message_primary or str(error), error.diag.message_hint)
    if isinstance(error, pg.UndefinedTable | pg.UndefinedFunction | pg.InvalidSchemaName) and "penstock." in str(error):
        return SchemaMissing(f"this database has no Penstock schema, or an older one: {error}\nRun: penstock migrate")
    if isinstance(error, psycopg.DataError) and "NUL" in str(error):
        return BadText("text with U+0000 cannot be stored in PostgreSQL")
    if isinstance(error, psycopg.OperationalError):
        return DatabaseUnavailable(f"PostgreSQL did not answer: {str(error).strip()}")
    return PenstockError(str(error))
