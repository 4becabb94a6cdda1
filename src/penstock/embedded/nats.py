"""The embedded NATS server with JetStream: runs while at least one process uses it."""

import signal
from pathlib import Path

from penstock.embedded.nats_server import HOST, START_S, STOP_S, USER, NatsServer
from penstock.embedded.shared import SharedServer
from penstock.errors import EmbeddedNatsError


class EmbeddedNats(SharedServer):
    """A NATS server on a port of 127.0.0.1, shared by all processes which start it on the same folder."""

    called = "embedded NATS server"
    error = EmbeddedNatsError
    lock_wait_s = START_S + 2 * STOP_S

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._server = NatsServer(self._folder)

    def url(self) -> str:
        """Where it listens. It asks for the login that `credential` holds."""
        return f"nats://{HOST}:{self._server.port()}"

    def credential(self) -> dict[str, str]:
        """What to write under an alias in the file of credentials."""
        return {"servers": self.url(), "user": USER, "password": self._server.password()}

    def restart(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End the server under its users, with that signal, and start it again on the same port."""
        with self._locked():
            self._server.stop(number)
            self._server.ensure_running()

    def _ensure_running(self) -> None:
        self._server.ensure_running()

    def _shut_down(self) -> None:
        self._server.stop()
