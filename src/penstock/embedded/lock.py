"""A file only one process holds at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.embedded.process import wait_for
from penstock.errors import PenstockError


@contextmanager
def locked_file(path: Path, wait_s: float, does: str, error: type[PenstockError]) -> Iterator[int]:
    """The open file, once nobody else holds it; the lock goes with the process. `does` is what others do meanwhile."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not wait_for(lambda: _taken(file), wait_s):
            raise error(
                f"{path} was locked by another process for {wait_s:.0f} s, which is {does}. "
                f"Look for it with: fuser {path}"
            )
        yield file
    finally:
        # Unlocked by hand: closing is not enough when a fork in another thread took a copy of the file with it.
        fcntl.flock(file, fcntl.LOCK_UN)
        os.close(file)


def _taken(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
