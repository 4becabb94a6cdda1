"""Real parts for every test: one server per run, one database per test, copied from a migrated template."""

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import hypothesis
import pytest

import penstock.sources  # noqa: F401  (sets up gRPC before a test's own import of it)
from penstock.embedded import Binaries, EmbeddedPostgres, bundled_binaries, system_binaries
from penstock.kernel.connection import Connection, connect
from penstock.kernel.migrate import migrate
from tests.dealing import ByFile
from tests.logins import Logins

Connect = Callable[[], Connection]

# of the files that are slow the slowest come first
LONGEST = ("test_bad_input.py", "test_conservation.py", "test_runtime_process.py", "test_up.py", "test_cluster.py")

# the suite tries the same examples every time; PENSTOCK_RANDOM=1 tries others
hypothesis.settings.register_profile("suite", derandomize=True, deadline=None)
if os.environ.get("PENSTOCK_RANDOM") != "1":
    hypothesis.settings.load_profile("suite")


def pytest_configure() -> None:
    # most of a short life of Spark is its JVM's second compiler, which pays only in a long one
    os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    # under nohup, or in the background of a script, the processes we start would inherit that these are ignored
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest is begun first, so that no process is left alone with it at the end."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What tests recorded as a summary is said at the end of the run, whichever process they ran in."""
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, text in report.user_properties:
                if name == "summary":
                    terminalreporter.write_line(text)


@pytest.fixture(scope="session")
def binaries() -> Binaries:
    """The bundled server, or the major version of Debian's that PENSTOCK_TEST_POSTGRES names."""
    wanted = os.environ.get("PENSTOCK_TEST_POSTGRES")
    if wanted is None:
        return bundled_binaries()
    found = system_binaries(int(wanted))
    assert found is not None, f"PENSTOCK_TEST_POSTGRES={wanted}, but no such binaries are installed"
    return found


@pytest.fixture(scope="session")
def scratch() -> Iterator[Path]:
    """A short folder that the server's operating-system user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="penstock-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server(scratch: Path, binaries: Binaries) -> Iterator[EmbeddedPostgres]:
    # what survives a crash is tested in tests/chaos on a server of its own, with fsync on
    settings = {"fsync": "off", "synchronous_commit": "off", "max_connections": "100"}
    embedded = EmbeddedPostgres(scratch / "postgres", binaries=binaries, settings=settings)
    embedded.start()
    yield embedded
    embedded.leave()


@pytest.fixture(scope="session")
def template(server: EmbeddedPostgres) -> str:
    with connect(server.url()) as connection:
        connection.execute("create database penstock_template")
    with connect(server.url("penstock_template")) as connection:
        migrate(connection)
    return "penstock_template"


@contextmanager
def fresh_database(server: EmbeddedPostgres, template: str) -> Iterator[str]:
    """The URL of a fresh, migrated database, dropped at the end."""
    name = f"t_{uuid4().hex[:12]}"
    with connect(server.url()) as connection:
        connection.execute(f"create database {name} template {template}".encode())
    try:
        yield server.url(name)
    finally:
        with connect(server.url()) as connection:
            connection.execute(f"drop database {name} with (force)".encode())


@pytest.fixture
def database(server: EmbeddedPostgres, template: str) -> Iterator[str]:
    """The URL of a database of the test's own."""
    with fresh_database(server, template) as url:
        yield url


@pytest.fixture
def session(database: str) -> Iterator[Connect]:
    """Opens connections to the test's database; they are closed with the test."""
    opened: list[Connection] = []

    def open_one() -> Connection:
        opened.append(connect(database))
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.close()


@pytest.fixture
def db(session: Connect) -> Connection:
    return session()


@pytest.fixture
def logins(db: Connection, database: str) -> Iterator[Logins]:
    """Makes login roles and opens connections as them; dropped with the test."""
    made = Logins(db, database)
    yield made
    made.drop()
