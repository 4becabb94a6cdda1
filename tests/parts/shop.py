"""The database of an old application with an outbox: a PostgreSQL of its own, with a login, stopped and started."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import uuid4

import pytest
from psycopg.sql import SQL, Identifier

from penstock.embedded import EmbeddedPostgres
from penstock.kernel.connection import Connection, connect
from penstock.sources.contract import Attributes
from tests.tree import ROOT
from tests.unit.embedded.support import reachable_folder

PASSWORD = "open-sesame-1001"
_TABLE = (ROOT / "examples" / "own_source" / "outbox.sql").read_text()
# peer rules come first: the reader must show a password, the administrator need not
_LOGINS = "local all reader scram-sha-256\nlocal all all trust\n"


class Shop:
    """The server and, in ordinary calls, what the application does to its tables."""

    def __init__(self, folder: Path) -> None:
        (folder / "logins.conf").write_text(_LOGINS)
        (folder / "logins.conf").chmod(0o644)
        self._server = EmbeddedPostgres(folder / "postgres", settings={"hba_file": str(folder / "logins.conf")})
        self._server.start()
        with self.connected() as connection:
            connection.execute(f"create role reader login password '{PASSWORD}'".encode())

    @property
    def credential(self) -> dict[str, str]:
        return {"url": self._server.url().replace("postgres@", "reader@"), "password": PASSWORD}

    def connected(self) -> Connection:
        return connect(self._server.url())

    def add_table(self, name: str) -> None:
        with self.connected() as connection:
            connection.execute(_TABLE.replace("outbox", name).encode())
            connection.execute(SQL("grant select, update on {} to reader").format(Identifier(name)))
            connection.execute(SQL("grant select on sequence {} to reader").format(Identifier(f"{name}_id_seq")))

    def drop_table(self, name: str) -> None:
        with self.connected() as connection:
            connection.execute(SQL("drop table {}").format(Identifier(name)))

    def publish(self, table: str, bodies: Sequence[bytes], headers: Attributes = ()) -> None:
        names, values = [name for name, _ in headers], [value for _, value in headers]
        with self.connected() as connection, connection.cursor() as cursor:
            statement = SQL(
                "insert into {} (payload, header_names, header_values) values (%b, %s::text[], %s::bytea[])"
            )
            cursor.executemany(statement.format(Identifier(table)), [(body, names, values) for body in bodies])

    def start(self) -> None:
        self._server.start()

    def stop(self) -> None:
        self._server.leave()


@pytest.fixture(scope="session")
def shop() -> Iterator[Shop]:
    """One server for the run; each test takes tables of its own."""
    folder = reachable_folder()
    one = Shop(folder)
    yield one
    one.stop()
    shutil.rmtree(folder)


@pytest.fixture
def outbox(shop: Shop) -> Iterator[str]:
    name = f"outbox_{uuid4().hex[:8]}"
    shop.add_table(name)
    yield name
    shop.drop_table(name)
