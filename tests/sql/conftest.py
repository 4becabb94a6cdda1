"""Login roles for the tests of who may do what."""

from collections.abc import Iterator

import pytest

from penstock.kernel.connection import Connection
from tests.logins import Logins


@pytest.fixture
def logins(db: Connection, database: str) -> Iterator[Logins]:
    """Makes login roles and opens connections as them; dropped with the test."""
    made = Logins(db, database)
    yield made
    made.drop()
