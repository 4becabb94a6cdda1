"""The database a command works on."""

import os
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


def lend_database(url: str) -> None:
    """Tasks of Spark are processes of their own, and find the database as this one does."""
    os.environ["PENSTOCK_DATABASE_URL"] = url
    os.environ.pop("PENSTOCK_DATABASE", None)
