"""Empty databases, and a server on which no database was ever migrated."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.embedded import Binaries, EmbeddedPostgres
from penstock.kernel.connection import Connection, connect


@pytest.fixture
def empty(server: EmbeddedPostgres) -> Iterator[str]:
    """The URL of an empty database on a server that has our roles."""
    name = f"t_{uuid4().hex[:12]}"
    with connect(server.url()) as superuser:
        superuser.execute(f"create database {name}".encode())
        yield server.url(name)
        superuser.execute(f"drop database {name} with (force)".encode())


@pytest.fixture
def bare_server(scratch: Path, binaries: Binaries) -> Iterator[EmbeddedPostgres]:
    """A server of its own, without our roles."""
    folder = scratch / f"bare-{uuid4().hex[:8]}"
    with EmbeddedPostgres(folder, binaries=binaries, settings={"fsync": "off"}) as embedded:
        yield embedded
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def owner(bare_server: EmbeddedPostgres) -> Iterator[Callable[[str], Connection]]:
    """Makes an ordinary user with these attributes that owns an empty database, and connects as it."""
    opened: list[Connection] = []

    def make(attributes: str) -> Connection:
        with connect(bare_server.url()) as superuser:
            superuser.execute(f"create role ordinary login {attributes}".encode())
            superuser.execute("create database ordinary owner ordinary")
        opened.append(connect(bare_server.url("ordinary").replace("//postgres@", "//ordinary@")))
        return opened[-1]

    yield make
    for connection in opened:
        connection.close()
