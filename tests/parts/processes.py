"""Servers of a test run: on free ports, with a log, ended by their process id, and never left behind."""

import ctypes
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Lock

import psutil

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1
_LOOK_S = 0.05
_STOP_S = 30
_TAIL_BYTES = 6000
# above what servers usually listen on
_FIRST_PORT = 12000
_USUAL_HANDED_OUT = 32768
_ROOM = 4000


def free_ports(count: int) -> list[int]:
    """Ports nobody listens on, and no two calls have the same.

    Not those the system hands out: it may hand one to somebody else before its server has it, or while that is down.
    """
    with _choosing:
        return list(islice(_free, count))


def _ours() -> Iterator[int]:
    """Each port of this process's share once, from anywhere in it: other runs on this machine choose too."""
    end = _first_handed_out()
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    workers = max(worker + 1, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
    share = range(_FIRST_PORT + worker, end, workers)
    start = secrets.randbelow(len(share))
    yield from share[start:]
    yield from share[:start]


def _first_handed_out() -> int:
    try:
        first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        first = _USUAL_HANDED_OUT
    # where there is no room below, those that are usual will do
    return first if first > _FIRST_PORT + _ROOM else _USUAL_HANDED_OUT


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


_choosing = Lock()
_free = filter(_is_free, _ours())


def listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1):
            return True
    except OSError:
        return False


def name_of(process: psutil.Process) -> str:
    """Nothing, when it has ended since it was listed."""
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""


class Part:
    """One server process, its output in a file. It dies with the process that started it, however that ends."""

    def __init__(self, command: list[str], log: Path, environment: Mapping[str, str] | None = None) -> None:
        self._log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                env=os.environ | dict(environment or {}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # not our terminal's: an interrupt is for the tests, which then end us
                process_group=0,
                preexec_fn=die_with_parent,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def until(self, ready: Callable[[], object], what: str, deadline_s: float) -> None:
        """Wait for a condition; when it does not come, end the process and say what its log says."""
        give_up_at = time.monotonic() + deadline_s
        while not ready():
            if not self.is_alive or time.monotonic() > give_up_at:
                self.kill()
                raise AssertionError(f"{what}: not within {deadline_s:g} s\n{self.log()[-_TAIL_BYTES:]}")
            time.sleep(_LOOK_S)

    def stop(self) -> None:
        """Ask it to end, and end it if it does not."""
        self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    @contextmanager
    def hung(self) -> Iterator[None]:
        """While it is there and does nothing at all."""
        self.send(signal.SIGSTOP)
        try:
            self.until(lambda: psutil.Process(self.pid).status() == psutil.STATUS_STOPPED, "it stops", _STOP_S)
            yield
        finally:
            self.send(signal.SIGCONT)


def die_with_parent() -> None:
    """For preexec_fn: the kernel kills the process when the one that started it ends, however that is."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
