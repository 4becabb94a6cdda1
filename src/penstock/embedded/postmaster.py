"""The server process of a data folder, as its postmaster.pid tells."""

import os
from dataclasses import dataclass
from pathlib import Path

from penstock.embedded.process import command_line, start_time

READY = "ready"


@dataclass(frozen=True)
class Postmaster:
    pid: int
    started: str
    socket_folder: Path | None
    status: str

    def lives(self) -> bool:
        return start_time(self.pid) == self.started


def running(data: Path) -> Postmaster | None:
    """The living server of this data folder."""
    lines = _pid_file(data)
    pid, started = stated_pid(data), None
    if pid is not None and _serves(pid, data):
        started = start_time(pid)
    if pid is None or started is None:
        return None
    # The file grows line by line while the server starts.
    socket, status = (lines[row].strip() if len(lines) > row else "" for row in (4, 7))
    return Postmaster(pid, started, Path(socket) if socket else None, status)


def stated_pid(data: Path) -> int | None:
    """The process id in the file, whoever that is today."""
    lines = _pid_file(data)
    try:
        return abs(int(lines[0])) if lines else None
    except ValueError:
        return None


def abandoned(data: Path) -> list[int]:
    """Servers started on a folder of this path which is no longer theirs."""
    import psutil

    commands = {pid: command_line(pid) for pid in psutil.pids()}
    return [pid for pid, words in commands.items() if _is_server(words) and _data_option(words) == str(data)]


def _pid_file(data: Path) -> list[str]:
    try:
        return (data / "postmaster.pid").read_text(errors="replace").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []


def _serves(pid: int, data: Path) -> bool:
    """A server, and not provably another folder's: one started by hand may name its folder in other ways."""
    command = command_line(pid)
    folder = _data_option(command)
    elsewhere = folder is not None and os.path.isabs(folder) and not _same(Path(folder), data)
    return _is_server(command) and not elsewhere


def _is_server(command: list[str]) -> bool:
    return bool(command) and Path(command[0]).name in ("postgres", "postmaster")


def _data_option(command: list[str]) -> str | None:
    return command[command.index("-D") + 1] if "-D" in command[:-1] else None


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
