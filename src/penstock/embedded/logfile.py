"""What an embedded server says, in a file beside its folder."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

MAX_BYTES = 16 * 2**20
TAIL_LINES = 20


@dataclass(frozen=True)
class LogFile:
    path: Path

    @classmethod
    def beside(cls, folder: Path) -> "LogFile":
        return cls(folder.with_name(folder.name + ".log"))

    def opened(self) -> BinaryIO:
        # Statements and their data end up in it.
        return open(os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab")

    def turn(self) -> None:
        """Put a long one aside; the one put aside before goes."""
        if self.size_bytes() > MAX_BYTES:
            self.path.rename(self.path.with_name(self.path.name + ".1"))

    def size_bytes(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def said_since(self, size_bytes: int) -> bytes:
        with self.path.open("rb") as log:
            log.seek(size_bytes)
            return log.read()

    def last_words(self, what: str) -> str:
        """What went wrong, with the end of the log."""
        lines = self.path.read_text(errors="replace").splitlines()[-TAIL_LINES:] if self.path.exists() else []
        return "\n  ".join([f"{what}. The last lines of {self.path}:", *lines])
