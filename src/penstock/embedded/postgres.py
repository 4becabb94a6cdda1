"""The embedded PostgreSQL: runs while at least one process uses it."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from penstock.embedded import sockets
from penstock.embedded.binaries import Binaries, bundled_binaries
from penstock.embedded.cluster import INITDB_S, START_S, STOP_SIGNALS, Cluster
from penstock.embedded.shared import SharedServer
from penstock.errors import EmbeddedPostgresError

SHARED_BUFFERS_MAX_BYTES = 512 * 2**20
SHARED_BUFFERS_MIN_BYTES = 16 * 2**20


class EmbeddedPostgres(SharedServer):
    """A PostgreSQL server on a unix socket, shared by all processes which start it on the same data folder.

    Settings take effect when a server is started, not when a running one is joined.
    """

    called = "embedded PostgreSQL"
    error = EmbeddedPostgresError
    lock_wait_s = INITDB_S + START_S

    def __init__(
        self, data: Path, *, binaries: Binaries | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(data)
        wanted = default_settings() | dict(settings or {})
        self._cluster = Cluster(self._folder, binaries or bundled_binaries(), wanted)

    def url(self, database: str = "postgres") -> str:
        folder = quote(str(self._cluster.socket_folder()))
        return f"postgresql://postgres@/{quote(database, safe='')}?host={folder}&port={sockets.PORT}"

    def restart(self, mode: str = "immediate") -> None:
        """Stop the server under its users, in pg_ctl's mode of that name, and start it again on the same socket."""
        if mode not in STOP_SIGNALS:
            raise EmbeddedPostgresError(f"There is no stop mode {mode!r}. Choose one of: {', '.join(STOP_SIGNALS)}.")
        with self._locked():
            self._cluster.stop(mode)
            self._cluster.ensure_running()

    def _begin(self) -> None:
        self._cluster.ensure_initialised()
        self._cluster.ensure_running()

    def _ensure_running(self) -> None:
        self._cluster.ensure_running()

    def _shut_down(self) -> None:
        self._cluster.shut_down()


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
