"""Databases made and dropped by ourselves, and what only one process at a time may do."""

from collections.abc import Iterator

import pytest

from penstock.embedded import EmbeddedPostgres
from penstock.errors import PenstockError
from penstock.kernel import databases
from penstock.kernel.connection import Connection, connect
from tests.conftest import Connect
from tests.sql.support import value

NAME = "t_made-by-us"


@pytest.fixture
def maintenance(server: EmbeddedPostgres) -> Iterator[Connection]:
    with connect(server.url()) as connection:
        yield connection
        databases.drop(connection, NAME, patience_s=0)


def test_a_missing_database_is_made_once(maintenance: Connection) -> None:
    assert [databases.create_missing(maintenance, NAME) for _ in range(2)] == [True, False]


def test_a_database_in_use_is_dropped_when_patience_ends(maintenance: Connection, server: EmbeddedPostgres) -> None:
    databases.create_missing(maintenance, NAME)
    with connect(server.url(NAME)):
        databases.drop(maintenance, NAME, patience_s=0)
    assert not value(maintenance, "select exists (select from pg_database where datname = %s)", NAME)


def test_a_database_that_is_not_there_is_dropped_without_a_word(maintenance: Connection) -> None:
    databases.drop(maintenance, NAME, patience_s=0)


def test_only_one_process_has_the_right_until_it_gives_it_back(db: Connection, session: Connect) -> None:
    other = session()
    with (
        databases.alone(db, "demo", patience_s=0),
        pytest.raises(PenstockError, match="another demo is running"),
        databases.alone(other, "demo", patience_s=0),
    ):
        pass
    with databases.alone(other, "demo", patience_s=0):
        pass


def test_the_right_of_a_process_that_died_is_free(db: Connection, session: Connect) -> None:
    dead = session()
    with databases.alone(dead, "demo", patience_s=0):
        dead.close()
        with databases.alone(db, "demo", patience_s=60):
            pass
