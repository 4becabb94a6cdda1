"""Which processes use the server: a locked file beside the data folder."""

import json
import os
import secrets
from dataclasses import astuple, dataclass

from penstock.embedded.process import start_time


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
