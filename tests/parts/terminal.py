"""A terminal with a command in it: what its reader sees, row by row."""

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_STEERING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_WIDE = {"COLUMNS": "200", "LINES": "40", "TERM": "xterm-256color"}


def on_a_terminal(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, deadline_s: float
) -> tuple[int, bytes]:
    """Its exit code, and all it has written."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        env={**environment, **_WIDE},
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        said = _until_closed(ours, time.monotonic() + deadline_s)
        code = process.wait(deadline_s)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return code, said


def rows_of(said: bytes) -> list[str]:
    """Every row as it stood when the cursor left it, without colours; no row twice in a row."""
    rows = [_STEERING.sub("", row).rstrip() for row in re.split(r"[\r\n]+", said.decode())]
    return [row for row, before in zip(rows, ["", *rows], strict=False) if row and row != before]


def _until_closed(terminal: int, give_up_at: float) -> bytes:
    said = b""
    while select.select([terminal], [], [], max(0.0, give_up_at - time.monotonic()))[0]:
        try:
            said += os.read(terminal, 65536)
        except OSError:
            # nobody has the other side any more
            return said
    raise AssertionError(f"it did not end in time, and said {said!r}")
