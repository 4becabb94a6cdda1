"""The embedded NATS server with JetStream: runs while at least one process uses it."""

import atexit
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from penstock.embedded.nats_server import HOST, START_S, STOP_S, USER, NatsServer
from penstock.embedded.users import User, Users, locked_users
from penstock.errors import EmbeddedNatsError

LOCK_WAIT_S = START_S + 2 * STOP_S


class EmbeddedNats:
    """A NATS server on a port of 127.0.0.1, shared by all processes which start it on the same folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.expanduser().resolve()
        self._server = NatsServer(self._folder)
        self._user: User | None = None

    def start(self) -> str:
        """Have the server running and this process among its users; returns the URL. May be called again."""
        with self._locked() as users:
            self._join(users)
            try:
                self._server.ensure_running()
            except (EmbeddedNatsError, OSError):
                self._part(users)
                raise
            return self.url()

    def url(self) -> str:
        """Where it listens. It asks for the login that `credential` holds."""
        return f"nats://{HOST}:{self._server.port()}"

    def credential(self) -> dict[str, str]:
        """What to write under an alias in the file of credentials."""
        return {"servers": self.url(), "user": USER, "password": self._server.password()}

    def leave(self) -> None:
        """This process leaves; the last living user stops the server. May be called again."""
        if self._is_member() and self._folder.parent.exists():
            with self._locked() as users:
                self._part(users)
                if not users.living():
                    self._server.stop()

    def restart(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End the server under its users, with that signal, and start it again on the same port."""
        with self._locked():
            self._server.stop(number)
            self._server.ensure_running()

    def revive(self) -> None:
        """Start a server again that has crashed under its users. Data that is gone is not made anew."""
        if not self._folder.exists():
            raise EmbeddedNatsError(f"The folder of the embedded NATS server, {self._folder}, is gone.")
        with self._locked() as users:
            if not users.living():
                raise EmbeddedNatsError(f"Nobody uses the embedded NATS server on {self._folder} any more.")
            self._server.ensure_running()

    def __enter__(self) -> "EmbeddedNats":
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
        path = self._folder.with_name(self._folder.name + ".users")
        try:
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            with locked_users(path, LOCK_WAIT_S, "NATS", EmbeddedNatsError) as users:
                yield users
        except OSError as error:
            raise EmbeddedNatsError(
                f"The embedded NATS server cannot work in {self._folder.parent}: {error}. "
                "Give this user the right to that path, or set PENSTOCK_HOME to another folder."
            ) from error
