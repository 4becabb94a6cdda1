"""A server that processes share: who starts it joins its users, and the last to leave stops it."""

import atexit
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from penstock.embedded.lock import locked_file
from penstock.embedded.users import User, Users
from penstock.errors import PenstockError


class SharedServer(ABC):
    """One server on one folder, for this process; the list of all its users lies beside the folder."""

    called: ClassVar[str]
    error: ClassVar[type[PenstockError]]
    # as long as a start or a stop may take
    lock_wait_s: ClassVar[float]

    def __init__(self, folder: Path) -> None:
        self._folder = folder.expanduser().resolve()
        self._user: User | None = None

    def start(self) -> str:
        """Have the server running and this process among its users; returns the URL. May be called again."""
        with self._locked() as users:
            self._join(users)
            try:
                self._begin()
            except (self.error, OSError):
                self._part(users)
                raise
            return self.url()

    @abstractmethod
    def url(self) -> str:
        """Where it is reached."""

    def leave(self) -> None:
        """This process leaves; the last living user stops the server. May be called again."""
        if self._is_member() and self._folder.parent.exists():
            with self._locked() as users:
                self._part(users)
                if not users.living():
                    self._shut_down()

    def revive(self) -> None:
        """Start a server again that has crashed under its users. Data that is gone is not made anew."""
        if not self._folder.exists():
            raise self.error(f"The folder of the {self.called}, {self._folder}, is gone.")
        with self._locked() as users:
            if not users.living():
                raise self.error(f"Nobody uses the {self.called} on {self._folder} any more.")
            self._ensure_running()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def _begin(self) -> None:
        """Have it running, and what it runs on made. The lock is held, here and below."""
        self._ensure_running()

    @abstractmethod
    def _ensure_running(self) -> None:
        """Return when the server answers."""

    @abstractmethod
    def _shut_down(self) -> None:
        """Stop it in order if that works in time, and in any case."""

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
        """Nobody else starts, joins, leaves or stops the server meanwhile."""
        path = self._folder.with_name(self._folder.name + ".users")
        try:
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            with locked_file(path, self.lock_wait_s, f"starting or stopping the {self.called}", self.error) as file:
                yield Users(file)
        except OSError as error:
            raise self.error(
                f"The {self.called} cannot work in {self._folder.parent}: {error}. "
                "Give this user the right to that path, or set PENSTOCK_HOME to another folder."
            ) from error
