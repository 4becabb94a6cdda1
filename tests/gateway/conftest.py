"""A server for the tests of a file, or for one test alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock.embedded import EmbeddedPostgres
from penstock.kernel.connection import Connection, connect
from tests.conftest import fresh_database
from tests.gateway.serving import Api, served
from tests.logins import Logins


@pytest.fixture(scope="module")
def api(server: EmbeddedPostgres, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """One server, one database: tests add to it, and end nothing."""
    folder = tmp_path_factory.mktemp("api")
    with (
        fresh_database(server, template) as url,
        connect(url) as db,
        _logins(db, url) as logins,
        served(db, url, logins, folder) as one,
    ):
        yield one


@pytest.fixture
def own(db: Connection, database: str, logins: Logins, tmp_path: Path) -> Iterator[Api]:
    """One of the test's own, to be ended as it likes."""
    with served(db, database, logins, tmp_path) as one:
        yield one


@contextmanager
def _logins(db: Connection, url: str) -> Iterator[Logins]:
    made = Logins(db, url)
    try:
        yield made
    finally:
        made.drop()
