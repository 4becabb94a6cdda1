"""The server under measurement: the embedded PostgreSQL with durable settings, in a folder of its own."""

import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import psutil

from penstock.embedded import EmbeddedPostgres
from penstock.embedded.postmaster import stated_pid
from penstock.kernel.connection import Connection, connect
from penstock.kernel.migrate import migrate

# The rest are the embedded server's own, durable defaults.
SETTINGS = {"fsync": "on", "synchronous_commit": "on", "shared_buffers": "512MB", "max_wal_size": "4GB"}
SHOWN = (
    "fsync", "synchronous_commit", "full_page_writes", "wal_level", "wal_compression", "shared_buffers",
    "max_wal_size", "checkpoint_timeout", "work_mem", "max_connections", "autovacuum", "autovacuum_naptime",
    "random_page_cost", "jit",
)  # fmt: skip
TEMPLATE = "penstock_template"


class BenchServer:
    """Makes databases and tells what they cost."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._data = folder / "postgres"
        self._embedded = EmbeddedPostgres(self._data, settings=SETTINGS)

    def start(self) -> None:
        with connect(self._embedded.start()) as connection:
            connection.execute(f"create database {TEMPLATE}".encode())
        with connect(self._embedded.url(TEMPLATE)) as connection:
            migrate(connection)

    def stop(self) -> None:
        self._embedded.leave()

    def fresh(self, name: str, *, migrated: bool = False) -> str:
        """The URL of a new database, alone on the server, so that vacuuming another's leftovers is not counted here.

        The checkpoint clock is restarted: what follows shares one cycle.
        """
        with connect(self._embedded.url()) as connection:
            for (old,) in connection.execute("select datname from pg_database where datname ~ '^bench_'").fetchall():
                connection.execute(f"drop database {old} with (force)".encode())
            connection.execute(f"create database {name} {f'template {TEMPLATE}' if migrated else ''}".encode())
            connection.execute("checkpoint")
        return self._embedded.url(name)

    def cpu_s(self) -> float:
        """CPU seconds of the server's processes, also of those that have ended."""
        pid = stated_pid(self._data)
        assert pid is not None
        postmaster = psutil.Process(pid)
        own = postmaster.cpu_times()
        return sum((own.user, own.system, own.children_user, own.children_system)) + sum(
            _cpu_s(child) for child in postmaster.children()
        )

    def version(self) -> str:
        with connect(self._embedded.url()) as connection:
            return str(connection.info.parameter_status("server_version"))

    def settings(self) -> dict[str, str]:
        with connect(self._embedded.url()) as connection:
            rows = connection.execute(
                "select name, current_setting(name) from pg_settings where name = any(%s)", [list(SHOWN)]
            ).fetchall()
        known = {str(name): str(value) for name, value in rows}
        return {name: known[name] for name in SHOWN}


@contextmanager
def running_server() -> Iterator[BenchServer]:
    """A server that is stopped, and whose files are removed, whatever happens."""
    folder = Path(tempfile.mkdtemp(prefix="penstock-bench-"))
    # As root, the server runs as a user of its own, which must be able to enter.
    folder.chmod(0o755)
    server = BenchServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def ending_in_order(main: Callable[[], None]) -> None:
    """Run it so that Ctrl-C and SIGTERM leave no server, no process and no folder behind."""

    def end(number: int, _: object) -> NoReturn:
        # once: a second signal must not interrupt the cleaning up
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    main()


def wal_bytes(connection: Connection) -> int:
    """How far the server has written its log."""
    row = connection.execute("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
    assert row is not None
    return int(row[0])


def _cpu_s(process: psutil.Process) -> float:
    try:
        used = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(used.user + used.system)
