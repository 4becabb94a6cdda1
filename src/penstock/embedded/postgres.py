"""The embedded PostgreSQL: runs while at least one process uses it."""

import atexit
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

from penstock.embedded import sockets
from penstock.embedded.binaries import Binaries, bundled_binaries
from penstock.embedded.cluster import INITDB_S, START_S, STOP_SIGNALS, Cluster
from penstock.embedded.users import User, Users, locked_users
from penstock.errors import EmbeddedPostgresError

LOCK_WAIT_S = INITDB_S + START_S
SHARED_BUFFERS_MAX_BYTES = 512 * 2**20
SHARED_BUFFERS_MIN_BYTES = 16 * 2**20


class EmbeddedPostgres:
    """A PostgreSQL server on a unix socket, shared by all processes which start it on the same data folder.

    Settings take effect when a server is started, not when a running one is joined.
    """

    def __init__(
        self, data: Path, *, binaries: Binaries | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        self._data = data.expanduser().resolve()
        self._cluster = Cluster(self._data, binaries or bundled_binaries(), default_settings() | dict(settings or {}))
        self._user: User | None = None

    def start(self) -> str:
        """Have the server running and this process among its users; returns the URL. May be called again."""
        with self._locked() as users:
            self._join(users)
            try:
                self._cluster.ensure_initialised()
                self._cluster.ensure_running()
            except EmbeddedPostgresError:
                self._part(users)
                raise
            return self.url()

    def url(self, database: str = "postgres") -> str:
        folder = quote(str(self._cluster.socket_folder()))
        return f"postgresql://postgres@/{quote(database, safe='')}?host={folder}&port={sockets.PORT}"

    def leave(self) -> None:
        """This process leaves; the last living user stops the server. May be called again."""
        if self._is_member() and self._data.parent.exists():
            with self._locked() as users:
                self._part(users)
                if not users.living():
                    self._cluster.shut_down()

    def restart(self, mode: str = "immediate") -> None:
        """Stop the server under its users, in pg_ctl's mode of that name, and start it again on the same socket."""
        if mode not in STOP_SIGNALS:
            raise EmbeddedPostgresError(f"There is no stop mode {mode!r}. Choose one of: {', '.join(STOP_SIGNALS)}.")
        with self._locked():
            self._cluster.stop(mode)
            self._cluster.ensure_running()

    def revive(self) -> None:
        """Start a server again that has crashed under its users. Data that is gone is not made anew."""
        if not self._data.exists():
            raise EmbeddedPostgresError(f"The data folder of the embedded PostgreSQL, {self._data}, is gone.")
        with self._locked() as users:
            if not users.living():
                raise EmbeddedPostgresError(f"Nobody uses the embedded PostgreSQL on {self._data} any more.")
            self._cluster.ensure_running()

    def __enter__(self) -> "EmbeddedPostgres":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def _is_member(self) -> bool:
        # A forked copy of us is not the user its parent is.
        return self._user is not None and self._user.pid == os.getpid()

    def _join(self, users: Users) -> None:
        if not self._is_member():
            self._user = User.myself()
            users.add(self._user)
            atexit.register(self.leave)

    def _part(self, users: Users) -> None:
        if self._user is not None:
            users.remove(self._user)
        self._user = None
        atexit.unregister(self.leave)

    @contextmanager
    def _locked(self) -> Iterator[Users]:
        try:
            self._data.parent.mkdir(parents=True, exist_ok=True)
            with locked_users(self._data.with_name(self._data.name + ".users"), LOCK_WAIT_S) as users:
                yield users
        except OSError as error:
            raise EmbeddedPostgresError(
                f"The embedded PostgreSQL cannot work in {self._data.parent}: {error}. "
                "Give this user the right to that path, or set PENSTOCK_HOME to another folder."
            ) from error


def default_settings() -> dict[str, str]:
    """Durable, reachable by the unix socket alone, and sized for this machine."""
    return {
        "listen_addresses": "",
        "unix_socket_permissions": "0700",
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "wal_compression": "off",
        "max_wal_size": "4GB",
        # claims walk over dead entries of the queue until a vacuum removes them
        "autovacuum_naptime": "5s",
        "shared_buffers": f"{_shared_buffers_bytes() // 1024}kB",
        "max_connections": "200",
        "max_locks_per_transaction": "128",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "lc_messages": "C",
    }


def _shared_buffers_bytes() -> int:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):
        # A container sees the host's memory, but may not have it.
        memory = min(memory, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return max(SHARED_BUFFERS_MIN_BYTES, min(memory // 8, SHARED_BUFFERS_MAX_BYTES))
