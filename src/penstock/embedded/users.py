"""Which processes use the server: a locked file beside the data folder."""

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path

from penstock.embedded.process import start_time, wait_for
from penstock.errors import EmbeddedPostgresError, PenstockError


@dataclass(frozen=True)
class User:
    pid: int
    started: str
    handle: str

    @classmethod
    def myself(cls) -> "User":
        # The handle keeps two users within one process apart.
        return cls(os.getpid(), start_time(os.getpid()) or "", secrets.token_hex(4))

    def lives(self) -> bool:
        return start_time(self.pid) == self.started


class Users:
    """The list, for as long as the lock on it is held."""

    def __init__(self, file: int) -> None:
        self._file = file

    def add(self, user: User) -> None:
        self._write([*self.living(), user])

    def remove(self, user: User) -> None:
        self._write([other for other in self.living() if other != user])

    def living(self) -> list[User]:
        return [user for user in self._read() if user.lives()]

    def _read(self) -> list[User]:
        line = os.pread(self._file, os.fstat(self._file).st_size, 0).partition(b"\n")[0]
        try:
            return [User(*fields) for fields in json.loads(line or b"[]")]
        except (ValueError, TypeError):
            # A power cut can leave anything here, and no user alive.
            return []

    def _write(self, users: list[User]) -> None:
        # One write, of which only the first line counts: a kill before the truncation leaves a good list.
        line = json.dumps([astuple(user) for user in users]).encode() + b"\n"
        os.pwrite(self._file, line, 0)
        os.ftruncate(self._file, len(line))


@contextmanager
def locked_users(
    path: Path, wait_s: float, server: str = "PostgreSQL", error: type[PenstockError] = EmbeddedPostgresError
) -> Iterator[Users]:
    """Hold the lock: nobody else starts, joins, leaves or stops the server meanwhile."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not wait_for(lambda: _lock(file), wait_s):
            raise error(
                f"{path} was locked by another process for {wait_s:.0f} s, which is starting or stopping {server}. "
                f"Look for it with: fuser {path}"
            )
        yield Users(file)
    finally:
        # Unlocked by hand: closing is not enough when a fork in another thread took a copy of the file with it.
        fcntl.flock(file, fcntl.LOCK_UN)
        os.close(file)


def _lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
