"""The database a command works on."""

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.cli.output import waiting
from penstock.client import database_url
from penstock.kernel.connection import Connection, connect
from penstock.kernel.migrate import check


@contextmanager
def opened(command: str, *, migrated: bool = True) -> Iterator[Connection]:
    """A connection to the database of the environment; unless told otherwise, its schema must be this version's."""
    with waiting("starting PostgreSQL"):
        url = database_url(migrated=migrated)
    with connect(url, application=f"penstock {command}") as connection:
        if migrated:
            check(connection)
        yield connection
