"""What the operating system knows of a process id, and waiting with a deadline."""

import time
from collections.abc import Callable
from pathlib import Path


def start_time(pid: int) -> str | None:
    """A mark that tells two processes of the same id apart; None when none lives (a zombie is dead)."""
    if not Path("/proc/self/stat").exists():
        return _start_time_without_proc(pid)
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The program's name, in brackets, may itself hold spaces and brackets: count from the last one.
    state, *rest = stat.rpartition(b")")[2].split()
    return None if state in (b"Z", b"X") else rest[18].decode()


def command_line(pid: int) -> list[str]:
    """The arguments the process was started with, empty when it is gone."""
    if not Path("/proc/self/cmdline").exists():
        return _command_line_without_proc(pid)
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    return raw.decode(errors="surrogateescape").split("\0")[:-1]


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    """Poll until the condition holds; False when it still does not after that time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _start_time_without_proc(pid: int) -> str | None:
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else str(process.create_time())
    except psutil.NoSuchProcess:
        return None


def _command_line_without_proc(pid: int) -> list[str]:
    import psutil

    try:
        return psutil.Process(pid).cmdline()
    except psutil.Error:
        return []
